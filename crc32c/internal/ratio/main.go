// Command ratio prints how many times faster than hash/crc32 package crc32c is.
//
// Both run in one process and take short turns, so that whatever else
// the machine does hits both alike; medians of all turns are printed. Other
// paths are measured by turning instructions off, GODEBUG=cpu.avx512f=off, and the
// portable one by building with -tags purego.
//
//	go run ./crc32c/internal/ratio [-only tables] [-sizes lengths] [-lengths] [-offset n] [-rounds n]
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/graven-rpc/graven/crc32c"
)

var (
	rounds  = flag.Int("rounds", 51, "turns of each function")
	offset  = flag.Int("offset", 64, "first byte of the input, from the start of a page")
	distant = flag.Int("distance", 64, "first byte of a copy, from the start of a page")
	only    = flag.String("only", "", "comma-separated tables: independent, unpredictable, chained, copy, portable")
	lengths = flag.Bool("lengths", false, "measure every length from 1 to 2048 instead of the tables")
	sizes   = flag.String("sizes", "", "comma-separated lengths in bytes instead of the usual ones")
	turn    = flag.Duration("turn", 200*time.Microsecond, "length of a turn")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sink keeps results alive.
var sink uint32

// A contest runs two functions, each of which does its work n times. The calls stand
// in the loops themselves: a call through a variable would cost both the same, and so
// favour the slower. The functions that return contests are not inlined, because in a
// function as long as main the compiler inlines nothing any more.
type contest struct {
	table string
	size  int // bytes of one call
	label string
	ours  func(n int)
	other func(n int)
}

// run returns the median nanoseconds of one call of each, and the median of the ratios
// of turns that followed each other.
func (c contest) run() (ours, other, ratio float64) {
	n := [2]int{calibrate(c.ours), calibrate(c.other)}
	f := [2]func(int){c.ours, c.other}
	var ns [2][]float64
	var ratios []float64
	for r := range *rounds {
		for i := range f {
			start := time.Now()
			f[i](n[i])
			ns[i] = append(ns[i], float64(time.Since(start).Nanoseconds())/float64(n[i]))
		}
		ratios = append(ratios, ns[1][r]/ns[0][r])
	}
	return median(ns[0]), median(ns[1]), median(ratios)
}

// calibrate returns how often f does its work in a turn.
func calibrate(f func(int)) int {
	for n := 16; ; n *= 4 {
		start := time.Now()
		f(n)
		if d := time.Since(start); d > *turn/8 {
			return max(1, int(float64(n)*float64(*turn)/float64(d)))
		}
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

//go:noinline
func independent(size int, p []byte) contest {
	return contest{
		table: "independent", size: size,
		ours: func(n int) {
			var s uint32
			for range n {
				s ^= crc32c.Checksum(p)
			}
			sink ^= s
		},
		other: func(n int) {
			var s uint32
			for range n {
				s ^= crc32.Checksum(p, castagnoli)
			}
			sink ^= s
		},
	}
}

//go:noinline
func chained(size int, p []byte) contest {
	return contest{
		table: "chained", size: size,
		ours: func(n int) {
			var s uint32
			for range n {
				s = crc32c.Update(s, p)
			}
			sink ^= s
		},
		other: func(n int) {
			var s uint32
			for range n {
				s = crc32.Update(s, castagnoli, p)
			}
			sink ^= s
		},
	}
}

// unpredictable takes lengths from 1 to limit in an order that no predictor learns.
//
//go:noinline
func unpredictable(limit int, p []byte) contest {
	const calls = 1 << 18
	rng := rand.New(rand.NewPCG(3, 4))
	sizes := make([]uint8, calls)
	for i := range sizes {
		sizes[i] = uint8(1 + rng.IntN(limit))
	}
	start := 0
	next := func(n int) (from int) {
		from = start
		start = (start + n) % calls
		return from
	}
	return contest{
		table: "unpredictable", size: limit, label: fmt.Sprintf("1 to %d", limit),
		ours: func(n int) {
			var s uint32
			from := next(n)
			for i := from; i < from+n; i++ {
				o := i * 72 & 4095
				s ^= crc32c.Checksum(p[o : o+int(sizes[i%calls])])
			}
			sink ^= s
		},
		other: func(n int) {
			var s uint32
			from := next(n)
			for i := from; i < from+n; i++ {
				o := i * 72 & 4095
				s ^= crc32.Checksum(p[o:o+int(sizes[i%calls])], castagnoli)
			}
			sink ^= s
		},
	}
}

// copying compares with two passes of this package, not of hash/crc32.
//
//go:noinline
func copying(size int, dst, src []byte) contest {
	return contest{
		table: "copy", size: size,
		ours: func(n int) {
			var s uint32
			for range n {
				s ^= crc32c.Copy(dst, src)
			}
			sink ^= s
		},
		other: func(n int) {
			var s uint32
			for range n {
				copy(dst, src)
				s ^= crc32c.Checksum(src)
			}
			sink ^= s
		},
	}
}

// portable compares with slicing by 8, what hash/crc32 does without assembly. It says
// something in a build with -tags purego only.
//
//go:noinline
func portable(size int, p []byte) contest {
	c := independent(size, p)
	c.table = "portable"
	c.other = func(n int) {
		var s uint32
		for range n {
			s ^= slicing8(p)
		}
		sink ^= s
	}
	return c
}

var tables8 [8][256]uint32

func init() {
	tables8[0] = *castagnoli
	for k := 1; k < 8; k++ {
		for b, crc := range tables8[k-1] {
			tables8[k][b] = crc>>8 ^ tables8[0][byte(crc)]
		}
	}
}

//go:noinline
func slicing8(p []byte) uint32 {
	t := &tables8
	crc := ^uint32(0)
	for len(p) >= 8 {
		a := binary.LittleEndian.Uint64(p) ^ uint64(crc)
		crc = t[7][byte(a)] ^ t[6][byte(a>>8)] ^ t[5][byte(a>>16)] ^ t[4][byte(a>>24)] ^
			t[3][byte(a>>32)] ^ t[2][byte(a>>40)] ^ t[1][byte(a>>48)] ^ t[0][byte(a>>56)]
		p = p[8:]
	}
	for _, b := range p {
		crc = crc>>8 ^ t[0][byte(crc)^b]
	}
	return ^crc
}

// page returns n bytes that start offset bytes after the start of a page, and 4 KiB
// more for unpredictable.
func page(n, offset int, fill bool) []byte {
	b := make([]byte, n+offset+2*4096)
	if fill {
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
	}
	// Slices of this size start at the start of a page.
	return b[offset:]
}

// everyLength prints the lengths from 1 to 2048 at which hash/crc32 is faster. One that
// seems so is measured again, five times at most: noise does not come back.
func everyLength(out io.Writer, p []byte) {
	fmt.Fprintln(out, "bytes\tns\thash/crc32 ns\tratio\t")
	lowest, at := math.Inf(1), 0
	for n := 1; n <= 2048; n++ {
		ours, other, ratio := independent(n, p[:n:n]).run()
		for i := 0; i < 5 && ratio < 1.1; i++ {
			if a, b, r := independent(n, p[:n:n]).run(); r > ratio {
				ours, other, ratio = a, b, r
			}
		}
		if ratio < lowest {
			lowest, at = ratio, n
		}
		if ratio < 1 {
			fmt.Fprintf(out, "%d\t%.2f\t%.2f\t%.2f\t\n", n, ours, other, ratio)
		}
	}
	fmt.Fprintf(out, "%d (the lowest)\t\t\t%.2f\t\n", at, lowest)
}

// lengthsOr returns the lengths of the flag, or usual ones.
func lengthsOr(usual ...int) []int {
	if *sizes == "" {
		return usual
	}
	var ns []int
	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 1<<20 {
			log.Fatalf("%q is no length from 1 to %d", s, 1<<20)
		}
		ns = append(ns, n)
	}
	return ns
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	src := page(1<<20, *offset, true)
	dst := page(1<<20, *distant, false)
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	defer out.Flush()
	defer func() { runtime.KeepAlive(sink) }()

	if *lengths {
		everyLength(out, src)
		return
	}

	var contests []contest
	for _, n := range lengthsOr(1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 200, 256, 384, 512, 768, 1024, 1400, 2048, 4096, 16384, 65536, 1<<20) {
		contests = append(contests, independent(n, src[:n:n]))
	}
	for _, n := range lengthsOr(16, 64, 128, 250) {
		contests = append(contests, unpredictable(n, src))
	}
	for _, n := range lengthsOr(4, 8, 16, 24, 32, 48, 64, 96, 128, 200, 256, 512) {
		contests = append(contests, chained(n, src[:n:n]))
	}
	for _, n := range lengthsOr(16, 64, 128, 200, 256, 384, 512, 768, 1024, 1400, 2048, 4096, 8192, 16384, 32768, 65536, 1<<20) {
		contests = append(contests, copying(n, dst[:n:n], src[:n:n]))
	}
	for _, n := range lengthsOr(16, 32, 64, 128, 256, 1024, 4096, 65536) {
		contests = append(contests, portable(n, src[:n:n]))
	}
	table := ""
	for _, c := range contests {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), c.table) || *only == "" && c.table == "portable" {
			continue
		}
		if c.table != table {
			table = c.table
			fmt.Fprintf(out, "%s bytes\tns\tother ns\tGB/s\tratio\t\n", table)
		}
		if c.label == "" {
			c.label = fmt.Sprint(c.size)
		}
		ours, other, ratio := c.run()
		fmt.Fprintf(out, "%s\t%.2f\t%.2f\t%.1f\t%.2f\t\n", c.label, ours, other, float64(c.size)/ours, ratio)
	}
}
