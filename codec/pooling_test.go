//go:build !race && !gravendebug

package codec_test

const poolsAllocate = false
