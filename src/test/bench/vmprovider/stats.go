package vmprovider

import (
	"maps"
	"sync"

	"github.com/example/vmoperator/src/provider"
)

// OperationOther counts calls that the contract does not know.
const OperationOther provider.Operation = "other"

// Stats are what a provider was asked for, and what it has.
type Stats struct {
	// Calls are the calls that arrived, answered or not, by operation. One that none
	// was made of is absent.
	Calls map[provider.Operation]int `json:"calls"`
	// Total is the number of all calls.
	Total int `json:"total"`
	// VMs is how many VMs exist now, those included that are being made or deleted.
	VMs int `json:"vms"`
}

// Stats returns what was counted since the start or ResetStats.
func (p *Provider) Stats() Stats {
	stats := Stats{Calls: p.counter.read(), VMs: p.vms.Len()}
	for _, count := range stats.Calls {
		stats.Total += count
	}
	return stats
}

// ResetStats begins to count anew. VMs stay.
func (p *Provider) ResetStats() {
	p.counter.reset()
	// Its ledger is the other thing that grows with every call.
	p.vms.Reset()
}

// counter counts calls.
type counter struct {
	mu    sync.Mutex
	calls map[provider.Operation]int
}

func (c *counter) add(op provider.Operation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[op]++
}

func (c *counter) read() map[provider.Operation]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.calls)
}
