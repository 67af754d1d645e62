//go:build race

package gravengrpc

const raceEnabled = true
