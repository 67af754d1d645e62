//go:build race || gravendebug

package codec_test

// poolsAllocate: what comes from pools is allocated now and then, since the race detector makes
// them forget buffers, and the debug mode notes the place for each frame.
const poolsAllocate = true
