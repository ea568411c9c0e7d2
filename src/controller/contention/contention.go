// Package contention bounds how often the operator puts one thing back that
// somebody else keeps changing: never a war, and never abandoned.
package contention

import (
	"slices"
	"time"
)

const (
	// Limit is how many corrections within Window make a thing contended.
	Limit = 5
	// Window is also how long a contended thing must stay untouched to be no more so.
	Window = 10 * time.Minute
	// Rest is the least time between two corrections of a contended thing.
	Rest = 5 * time.Minute
)

// History is what is known of the corrections of one thing. The zero value is one
// that was never corrected.
type History struct {
	// recent are the times of corrections, the last one at the end; at most Limit.
	recent    []time.Time
	contended bool
}

// Resumed is the history of a thing that another process has found contended. When
// that has corrected it last is not known: it counts as now.
func Resumed(now time.Time) *History { return &History{recent: []time.Time{now}, contended: true} }

// Corrected records a correction. It reports whether the thing is contended from
// now on, and was not before.
func (h *History) Corrected(now time.Time) bool {
	was := h.Contended(now)
	h.recent = slices.DeleteFunc(h.recent, func(at time.Time) bool { return now.Sub(at) >= Window })
	h.recent = append(h.recent, now)
	if len(h.recent) > Limit {
		h.recent = slices.Delete(h.recent, 0, len(h.recent)-Limit)
	}
	h.contended = was || len(h.recent) == Limit
	return h.contended && !was
}

// Contended reports whether somebody keeps changing the thing back.
func (h *History) Contended(now time.Time) bool {
	return h.contended && now.Sub(h.last()) < Window
}

// Wait is how long to wait before the next correction; zero means not at all.
func (h *History) Wait(now time.Time) time.Duration {
	if !h.Contended(now) {
		return 0
	}
	return max(Rest-now.Sub(h.last()), 0)
}

// Over reports whether nothing of the history matters any more.
func (h *History) Over(now time.Time) bool { return now.Sub(h.last()) >= Window }

func (h *History) last() time.Time {
	if len(h.recent) == 0 {
		return time.Time{}
	}
	return h.recent[len(h.recent)-1]
}
