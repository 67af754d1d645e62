package crc32c

// polynomial is the Castagnoli polynomial with its bits reflected: bit 31 stands
// for x^0, bit 0 for x^31, and x^32 is implied.
const polynomial = 0x82f63b78

// Combine returns the CRC-32C of A followed by B, where crc1 is the checksum of A,
// crc2 the checksum of B, and len2 the length of B in bytes. The bytes themselves
// are not needed. The time grows with the logarithm of len2. It panics if len2 is
// negative.
//
// Appending n bytes multiplies what A contributes by x^(8n) modulo the polynomial,
// a product of those x^(2^k) that the bits of 8n select; this is the method of Mark
// Adler's crc32_combine in zlib 1.2.12.
func Combine(crc1, crc2 uint32, len2 int64) uint32 {
	if len2 < 0 {
		panic("crc32c: Combine with a negative length")
	}
	k := 3 // 8n is n shifted by three
	for n := uint64(len2); n != 0; n >>= 1 {
		if n&1 != 0 {
			crc1 = multiply(squares[k%len(squares)], crc1)
		}
		k++
	}
	return crc1 ^ crc2
}

// multiply returns a times b modulo the polynomial, all reflected.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		product ^= b & -(a >> 31)
		b = b>>1 ^ polynomial&-(b&1)
	}
	return product
}
