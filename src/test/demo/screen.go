package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	// lookInterval is how often a condition that is waited for is looked at.
	lookInterval = 250 * time.Millisecond
	// lineInterval is how often a wait is told of where lines cannot be rewritten.
	lineInterval = 5 * time.Second
	indent       = "    "
)

// screen is where the story is told.
type screen struct {
	out io.Writer
	// width of a terminal, in columns; 0 for what is no terminal.
	width int
	now   func() time.Time
}

func newScreen(file *os.File) *screen {
	s := &screen{out: file, now: time.Now}
	// A terminal that knows no widths is written to like a file.
	if width, _, err := term.GetSize(int(file.Fd())); err == nil {
		s.width = width
	}
	return s
}

// say prints a line.
func (s *screen) say(format string, args ...any) {
	fmt.Fprintf(s.out, format+"\n", args...)
}

// show prints what a command printed, set off from the story.
func (s *screen) show(text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		fmt.Fprintln(s.out, indented(text))
	}
}

// during does what takes a while, and shows how long it has taken.
func (s *screen) during(ctx context.Context, what string, do func(context.Context) error) error {
	p := s.progress(what)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		p.tick("")
		select {
		case err := <-done:
			p.end()
			if err == nil {
				s.say("%s: %s", what, seconds(p.elapsed()))
			}
			return err
		case <-ticker.C:
		}
	}
}

// progress tells of one wait.
type progress struct {
	screen       *screen
	what         string
	began, shown time.Time
}

func (s *screen) progress(what string) *progress {
	now := s.now()
	return &progress{screen: s, what: what, began: now, shown: now}
}

func (p *progress) elapsed() time.Duration { return p.screen.now().Sub(p.began) }

// tick shows how long the wait has been, and what was seen last.
func (p *progress) tick(seen string) {
	line := fmt.Sprintf("%s... %d s: %s", indent+"waiting for "+p.what, int(p.elapsed().Seconds()), seen)
	line = strings.TrimSuffix(line, ": ")
	now := p.screen.now()
	switch {
	case p.screen.width > 0:
		// A line that wraps could not be rewritten.
		fmt.Fprintf(p.screen.out, "\r\x1b[K%s", shortened(line, p.screen.width-1))
	case now.Sub(p.shown) >= lineInterval:
		p.shown = now
		fmt.Fprintln(p.screen.out, line)
	}
}

// end clears the line on a terminal.
func (p *progress) end() {
	if p.screen.width > 0 {
		fmt.Fprint(p.screen.out, "\r\x1b[K")
	}
}

func indented(text string) string {
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

// shortened cuts text to a number of characters, and shows that it did.
func shortened(text string, limit int) string {
	characters := []rune(text)
	if len(characters) <= limit {
		return text
	}
	return string(characters[:max(limit-1, 0)]) + "…"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
