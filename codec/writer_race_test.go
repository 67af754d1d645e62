//go:build race

package codec_test

// writerRace: the race detector makes the pool forget buffers.
const writerRace = true
