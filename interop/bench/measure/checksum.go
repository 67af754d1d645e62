package measure

import (
	"fmt"
	stdcrc "hash/crc32"
	"math/rand/v2"
	"runtime"

	klauspost "github.com/klauspost/crc32"

	"github.com/graven-rpc/graven/crc32c"
	"github.com/graven-rpc/graven/envelope"
	"github.com/graven-rpc/graven/interop/bench/peer"
)

// checksums lists CRC32C by ours, the standard library's and klauspost's, and
// what the envelope costs above it.
func checksums(n int) []struct {
	Key
	run func(int)
} {
	src := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	dst := make([]byte, n)
	std, kp := stdcrc.MakeTable(stdcrc.Castagnoli), klauspost.MakeTable(klauspost.Castagnoli)
	frame := make([]byte, envelope.HeaderSize+n, envelope.HeaderSize+n+4)
	copy(frame[envelope.HeaderSize:], src)
	sealed := append([]byte{}, peer.Must(envelope.Seal(frame, 1))...)
	name := fmt.Sprint(n)
	sum := func(f func() uint32) func(int) {
		return func(n int) {
			var sum uint32
			for range n {
				sum += f()
			}
			runtime.KeepAlive(sum)
		}
	}
	type row = struct {
		Key
		run func(int)
	}
	return []row{
		{Key{Checksum, name, "checksum", "Graven", "crc32c"}, sum(func() uint32 { return crc32c.Checksum(src) })},
		{Key{Checksum, name, "checksum", "Go", "hash/crc32"}, sum(func() uint32 { return stdcrc.Checksum(src, std) })},
		{Key{Checksum, name, "checksum", "klauspost/crc32", "crc32"}, sum(func() uint32 { return klauspost.Checksum(src, kp) })},
		{Key{Checksum, name, "copy and checksum", "Graven", "crc32c, one pass"}, sum(func() uint32 { return crc32c.Copy(dst, src) })},
		{Key{Checksum, name, "copy and checksum", "Go", "copy, hash/crc32"}, sum(func() uint32 {
			copy(dst, src)
			return stdcrc.Checksum(dst, std)
		})},
		{Key{Checksum, name, "seal an envelope", "Graven", "envelope"}, func(n int) {
			for range n {
				runtime.KeepAlive(peer.Must(envelope.Seal(frame, 1)))
			}
		}},
		{Key{Checksum, name, "open an envelope", "Graven", "envelope"}, func(n int) {
			for range n {
				_, m, err := envelope.Open(sealed, len(sealed))
				peer.Check(err)
				runtime.KeepAlive(m)
			}
		}},
	}
}

// ChecksumSizes are the message sizes that checksums are measured with: those of
// telemetry, small, medium and chunk/65536.
var ChecksumSizes = []int{24, 64, 1 << 10, 64 << 10}

// Checksums measures checksums and envelopes.
func Checksums(o Options) {
	for pass := o.First; pass < o.First+o.Passes; pass++ {
		for _, n := range ChecksumSizes {
			o.Advance()
			for _, r := range checksums(n) {
				if o.Match(r.Key) {
					o.emit(pass, r.Key, sample(o.Sample, r.run).metrics())
				}
			}
		}
	}
}
