// Package fallback has what both transports need to go on in protobuf with a peer
// that does not speak Graven: who it was, and how to open a stream a second time.
package fallback

import (
	"sync"
	"time"
)

// Period is how long a peer is remembered. After that it is asked again, so that
// a client notices when its servers are updated.
const Period = 10 * time.Minute

// Memory is which peers do not speak Graven. It belongs to the options of a client
// and is gone with them. It is safe for concurrent use.
type Memory struct {
	// Now is the clock.
	Now func() time.Time

	mu    sync.Mutex
	until map[string]time.Time
}

// NewMemory returns a Memory with nobody in it.
func NewMemory() *Memory {
	return &Memory{Now: time.Now, until: make(map[string]time.Time)}
}

// Add remembers a peer for [Period].
func (m *Memory) Add(peer string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Now()
	for p, until := range m.until {
		if now.After(until) {
			delete(m.until, p)
		}
	}
	m.until[peer] = now.Add(Period)
}

// Has reports whether the peer is remembered.
func (m *Memory) Has(peer string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	until, ok := m.until[peer]
	return ok && !m.Now().After(until)
}
