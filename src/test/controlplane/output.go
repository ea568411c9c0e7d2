package controlplane

import (
	"io"
	"sync"
)

// keptOutput is how much of what the components printed is shown when they do not start.
const keptOutput = 4096

// output passes on what several processes print at once, and remembers its end.
type output struct {
	mu   sync.Mutex
	next io.Writer // may be nil
	last []byte
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last, text...)
	if extra := len(o.last) - keptOutput; extra > 0 {
		o.last = append(o.last[:0], o.last[extra:]...)
	}
	if o.next != nil {
		// Whether anyone reads along must not matter to the process that prints.
		_, _ = o.next.Write(text)
	}
	return len(text), nil
}

func (o *output) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.last)
}
