//go:build gravendebug

package codec

// Leaked is where tests hear of frames that were not released.
var Leaked = &leaked
