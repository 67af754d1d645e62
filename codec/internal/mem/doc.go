// Package mem is the fence around unsafe: loads, stores and copies at offsets that
// its callers have checked. With the tag nounsafe, and on big-endian machines, a twin
// on slices stands in its place, and every test runs on both.
package mem
