package wire

// NewRow opens the message in field i, as one with nothing set.
func (r RowWriter) NewRow(t *WriteType, i uint) RowWriter {
	c := r.sub(i, t.info(), rowsKnown, 1)
	if c == nil {
		return r.b.w.deadRow()
	}
	return RowWriter{b: c, serial: c.serial}
}

// RowsWriter is a list of messages that is being written.
type RowsWriter rows

type rows struct {
	b      *blockWriter
	serial uint32
}

// NewRows opens a list of n messages in field i.
func (r RowWriter) NewRows(t *WriteType, i uint, n int) RowsWriter {
	return RowsWriter(r.list(i, t.info(), rowsKnown, n))
}

// BuildRows opens a list to be appended to and closed.
func (r RowWriter) BuildRows(t *WriteType, i uint) RowsWriter {
	return RowsWriter(r.list(i, t.info(), rowsUnknown, firstRows))
}

func (r RowWriter) list(i uint, info *writeInfo, kind blockKind, n int) rows {
	c := r.sub(i, info, kind, n)
	if c == nil {
		return rows{b: &r.b.w.dead}
	}
	return rows{b: c, serial: c.serial}
}

// Len is how many messages the list has so far.
func (l RowsWriter) Len() int { return length(rows(l)) }

func length(l rows) int {
	if l.b.serial != l.serial {
		return 0
	}
	l.b.settle()
	return int(l.b.n)
}

// At is message i.
func (l RowsWriter) At(i int) RowWriter {
	b := l.b
	b.settle()
	if b.serial != l.serial || uint(i) >= uint(b.n) {
		return rows(l).past(i)
	}
	if b.clean < b.n {
		b.zero(b.n)
	}
	return RowWriter{b: b, index: uint32(i), serial: l.serial}
}

// past is a handle that does nothing, of a row that is not there.
//
//go:noinline
func (l rows) past(i int) RowWriter {
	switch b := l.b; {
	case b.serial != l.serial:
		b.stale()
	default:
		b.misuseOf("element " + itoa(i) + " of a list of " + itoa(int(b.n)))
	}
	return l.b.w.deadRow()
}

// Append adds a message to a list that is built.
func (l RowsWriter) Append() RowWriter {
	r, ok := rows(l).add()
	if ok && r.b.clean <= r.index {
		r.b.zero(r.index + 1)
	}
	return r
}

// add adds a row.
func (l rows) add() (RowWriter, bool) {
	b := l.b
	b.settle()
	switch {
	case b.serial != l.serial:
		b.stale()
		return b.w.deadRow(), false
	case b.kind != rowsUnknown:
		b.misuseOf("a list of known length can't be appended to")
		return b.w.deadRow(), false
	case b.w.top != b && !b.w.closeTo(b), b.n == b.room && !b.more(1):
		return b.w.deadRow(), false
	}
	b.n++
	return RowWriter{b: b, index: b.n - 1, serial: l.serial}, true
}

// Close ends a list that was built. One of known length ends by itself.
func (l RowsWriter) Close() { rows(l).close() }

func (l rows) close() {
	b := l.b
	switch {
	case b.serial != l.serial:
		b.stale()
	case b.w.closeTo(b):
		b.w.close(false)
	}
}
