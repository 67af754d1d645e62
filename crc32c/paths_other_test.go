//go:build purego || !(amd64 || arm64)

package crc32c

func activePath() string { return "only" }

func archPaths() []path { return nil }

func archCopies() []copyPath { return nil }
