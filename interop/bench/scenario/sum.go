package scenario

import "math"

// Sum is a checksum over the values of a message, taken field by field in the
// order of the field numbers: a list gives its length and then its elements, a
// field that may be absent gives 1 and its value or 0, an ordinary nested
// message likewise; value types (Vec3 and the like) have no presence. Each value
// is multiplied by a weight of its own place, so that order counts.
//
// The methods return the new sum instead of changing one in place, which keeps
// it in registers: the additions and multiplications cost about a cycle a value
// and do not hide what reading costs.
type Sum struct{ sum, weight uint64 }

// step is even and the first weight is odd, so all weights are odd and no bit of
// a value is lost.
const (
	firstWeight = 0x9E3779B97F4A7C15
	step        = 0xC2B2AE3D27D4EB4E
)

// everyByte makes Str and Bytes take in every byte.
var everyByte bool

// CountEveryByte decides whether sums take in every byte of strings and byte
// strings, as the equivalence test wants it, or only length, first and last
// byte, which is so cheap that benchmarks show reading and not the sum. Not to
// be called while sums are being made.
func CountEveryByte(on bool) { everyByte = on }

// NewSum is the sum of nothing.
func NewSum() Sum { return Sum{weight: firstWeight} }

// Value is the checksum.
func (s Sum) Value() uint64 { return s.sum }

// U adds an unsigned integer, or a signed one converted with its sign.
func (s Sum) U(v uint64) Sum { return Sum{s.sum + v*s.weight, s.weight + step} }

// B adds a bool.
func (s Sum) B(v bool) Sum {
	var u uint64
	if v {
		u = 1
	}
	return s.U(u)
}

// F32 adds the bits of a float.
func (s Sum) F32(v float32) Sum { return s.U(uint64(math.Float32bits(v))) }

// F64 adds the bits of a double.
func (s Sum) F64(v float64) Sum { return s.U(math.Float64bits(v)) }

// V3 adds the three values of a vector.
func (s Sum) V3(x, y, z float32) Sum { return s.F32(x).F32(y).F32(z) }

// Str adds a string.
func (s Sum) Str(v string) Sum { return s.U(mix(v)) }

// Bytes adds bytes, exactly as Str adds a string that holds them.
func (s Sum) Bytes(v []byte) Sum { return s.U(mix(v)) }

func mix[T string | []byte](v T) uint64 {
	if everyByte {
		return mixAll(v)
	}
	n := len(v)
	if n == 0 {
		return 0
	}
	return uint64(n)<<16 | uint64(v[0])<<8 | uint64(v[n-1])
}

// mixAll is FNV-1a with 64 bits; unlike the plain offset, the length in front
// keeps an empty string from being just another constant.
//
//go:noinline
func mixAll[T string | []byte](v T) uint64 {
	h := uint64(14695981039346656037) ^ uint64(len(v))
	for i := 0; i < len(v); i++ {
		h = (h ^ uint64(v[i])) * 1099511628211
	}
	return h
}
