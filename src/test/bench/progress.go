package main

import (
	"fmt"
	"io"
	"time"
)

// lineInterval is how often a wait is told of.
const lineInterval = 5 * time.Second

// progress tells of one wait.
type progress struct {
	out          io.Writer
	what         string
	began, shown time.Time
}

func newProgress(out io.Writer, what string) *progress {
	now := time.Now()
	fmt.Fprintln(out, what)
	return &progress{out: out, what: what, began: now, shown: now}
}

// tick tells now and then how far it is.
func (p *progress) tick(format string, args ...any) {
	if now := time.Now(); now.Sub(p.shown) >= lineInterval {
		p.shown = now
		fmt.Fprintf(p.out, "%s: %s after %d s\n", p.what, fmt.Sprintf(format, args...), int(now.Sub(p.began).Seconds()))
	}
}
