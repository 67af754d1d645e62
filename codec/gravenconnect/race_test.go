//go:build race

package gravenconnect

const raceEnabled = true
