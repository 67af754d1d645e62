//go:build !race

package codec_test

const writerRace = false
