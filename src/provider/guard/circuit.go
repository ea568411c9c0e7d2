package guard

import "sync/atomic"

// Circuit shows the circuit of one client to whoever made it. Call NewCircuit.
type Circuit struct {
	open    atomic.Bool
	changed func()
}

// NewCircuit returns a Circuit, closed. The function is called after the circuit has
// opened or closed, on the goroutine of whoever made the call that did it, and must
// not block; nil means that nobody wants to know.
func NewCircuit(changed func()) *Circuit {
	if changed == nil {
		changed = func() {}
	}
	return &Circuit{changed: changed}
}

// Open reports whether calls are held back because others failed.
func (c *Circuit) Open() bool { return c.open.Load() }
