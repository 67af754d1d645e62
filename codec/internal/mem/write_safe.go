//go:build nounsafe || !(386 || amd64 || amd64p32 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package mem

// Put writes a number at o.
func Put[T ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64](p Ptr, o uint, v T) {
	copy(p.b[o:], Raw([]T{v}))
}
