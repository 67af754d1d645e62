package client

import (
	"slices"
	"sync"
	"time"
)

// Sizes and times of the messages of one call, written down by the codecs
// that a client uses. Codecs are called by several goroutines at once.
type meter struct {
	mu       sync.Mutex
	sent     []sample
	received []sample
}

type sample struct {
	bytes int
	took  time.Duration
	// The checksum at the end of a frame; only Graven has one.
	crc uint32
}

func (m *meter) addSent(s sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, s)
}

func (m *meter) addReceived(s sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.received = append(m.received, s)
}

// take returns what was written down and starts anew.
func (m *meter) take() (sent, received []sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sent, received = m.sent, m.received
	m.sent, m.received = nil, nil
	return sent, received
}

func totalBytes(samples []sample) int {
	total := 0
	for _, s := range samples {
		total += s.bytes
	}
	return total
}

// medianTime is the time of a message in the middle: the first messages, which
// fill caches and pools, don't show.
func medianTime(samples []sample) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	took := make([]time.Duration, len(samples))
	for i, s := range samples {
		took[i] = s.took
	}
	slices.Sort(took)
	return took[len(took)/2]
}
