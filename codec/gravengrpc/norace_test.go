//go:build !race

package gravengrpc

const raceEnabled = false
