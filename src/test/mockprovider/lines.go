package mockprovider

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// kept is how much of what was printed is shown when the provider does not start.
const kept = 4096

// lines reads along with what the provider prints, until it says where it listens.
type lines struct {
	port chan int

	mu    sync.Mutex
	next  io.Writer // may be nil
	last  []byte
	begun []byte // a line that is not whole yet; nil once the port is known
	told  bool
}

func newLines(next io.Writer) *lines { return &lines{port: make(chan int, 1), next: next} }

// Write implements io.Writer.
func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, text...)
	if extra := len(l.last) - kept; extra > 0 {
		l.last = append(l.last[:0], l.last[extra:]...)
	}
	if l.next != nil {
		// Whether anyone reads along must not matter to the provider.
		_, _ = l.next.Write(text)
	}
	if !l.told {
		l.begun = append(l.begun, text...)
		l.look()
	}
	return len(text), nil
}

// look takes the port from the line that tells it.
func (l *lines) look() {
	for {
		line, rest, whole := bytes.Cut(l.begun, []byte("\n"))
		if !whole {
			return
		}
		l.begun = rest
		var said struct {
			Msg  string `json:"msg"`
			Port int    `json:"port"`
		}
		// Other lines may be no JSON, such as Python's own complaints.
		if json.Unmarshal(line, &said) == nil && said.Msg == "listening" {
			l.port <- said.Port
			l.told, l.begun = true, nil
			return
		}
	}
}

func (l *lines) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.last)
}
