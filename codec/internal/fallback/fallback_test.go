package fallback

import (
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestMemory(t *testing.T) {
	now := time.Unix(1000, 0)
	m := NewMemory()
	m.Now = func() time.Time { return now }
	m.Add("a")
	now = now.Add(Period / 2)
	m.Add("b")
	if !m.Has("a") || !m.Has("b") || m.Has("c") {
		t.Errorf("a %v, b %v, c %v", m.Has("a"), m.Has("b"), m.Has("c"))
	}
	now = now.Add(Period/2 + 1)
	if m.Has("a") || !m.Has("b") {
		t.Errorf("later: a %v, b %v", m.Has("a"), m.Has("b"))
	}
	m.Add("c")
	if len(m.until) != 2 {
		t.Errorf("those that are forgotten stay: %v", m.until)
	}
}

// wire is a stream that takes some messages and then says io.EOF.
type wire struct {
	mu     sync.Mutex
	takes  int
	got    []any
	closed int
}

func (w *wire) send(m any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.got) == w.takes {
		return io.EOF
	}
	w.got = append(w.got, m)
	return nil
}

func (w *wire) close() error { w.closed++; return nil }

func numbers(n int) (all []any) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestReopen(t *testing.T) {
	first, second := &wire{takes: 2}, &wire{takes: 1000}
	s := NewStream(first, func() (*wire, error) { return second, nil }, (*wire).send, (*wire).close)
	for i := range 5 {
		if err := s.Send(i, true); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := s.Reopen(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for i := 5; i < 100; i++ {
		if err := s.Send(i, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if s.Current() != second || !slices.Equal(second.got, numbers(100)) || second.closed != 1 || first.closed != 0 {
		t.Errorf("got %v, closed %d and %d times", second.got, first.closed, second.closed)
	}
	if ok, err := s.Reopen(); ok || err != nil {
		t.Errorf("a second time: %v, %v", ok, err)
	}
}

func TestReopenClosed(t *testing.T) {
	first, second := &wire{takes: 2}, &wire{takes: 1000}
	s := NewStream(first, func() (*wire, error) { return second, nil }, (*wire).send, (*wire).close)
	if err := errors.Join(s.Send(0, true), s.CloseSend()); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Reopen(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.last()
	if !slices.Equal(second.got, numbers(1)) || second.closed != 1 || first.closed != 1 {
		t.Errorf("got %v, closed %d and %d times", second.got, first.closed, second.closed)
	}
}

func TestTooLate(t *testing.T) {
	reopened := 0
	open := func(takes int) *Stream[*wire] {
		return NewStream(&wire{takes: takes}, func() (*wire, error) { reopened++; return new(wire), nil }, (*wire).send, (*wire).close)
	}
	s := open(0)
	for i := range MaxResend {
		if err := s.Send(i, true); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	if err := s.Send("one more", true); err != io.EOF {
		t.Errorf("one more: %v", err)
	}
	once := open(10)
	if err := errors.Join(once.Send(1, true), once.Send(2, false), once.Send(3, true)); err != nil {
		t.Fatal(err)
	}
	settled := open(1)
	if err := settled.Send(1, true); err != nil {
		t.Fatal(err)
	}
	settled.Settle()
	if err := settled.Send(2, true); err != io.EOF {
		t.Errorf("settled: %v", err)
	}
	for _, s := range []*Stream[*wire]{s, once, settled, NewStream(new(wire), nil, (*wire).send, (*wire).close)} {
		if ok, err := s.Reopen(); ok || err != nil || s.sent != nil {
			t.Errorf("reopened: %v, %v, %d messages kept", ok, err, len(s.sent))
		}
	}
	if reopened != 0 {
		t.Errorf("opened %d times", reopened)
	}
}

func TestReopenFails(t *testing.T) {
	down := errors.New("down")
	first := &wire{takes: 1}
	s := NewStream(first, func() (*wire, error) { return nil, down }, (*wire).send, (*wire).close)
	if err := s.Send(0, true); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Reopen(); ok || err != down {
		t.Errorf("%v, %v", ok, err)
	}
	if err := s.Send(1, true); err != io.EOF || s.Current() != first {
		t.Errorf("afterwards: %v", err)
	}
}

// A sender that never stops, while the stream is opened again: each message comes
// once and in order.
func TestReopenWhileSending(t *testing.T) {
	for range 500 {
		first, second := &wire{takes: 3}, &wire{takes: 1000}
		s := NewStream(first, func() (*wire, error) { return second, nil }, (*wire).send, (*wire).close)
		var sender sync.WaitGroup
		sender.Go(func() {
			for i := range MaxResend {
				if err := s.Send(i, true); err != nil {
					t.Errorf("message %d: %v", i, err)
				}
			}
			s.CloseSend()
		})
		if ok, err := s.Reopen(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		sender.Wait()
		s.last()
		if !slices.Equal(second.got, numbers(MaxResend)) || second.closed == 0 {
			t.Fatalf("got %v, closed %d times", second.got, second.closed)
		}
	}
}
