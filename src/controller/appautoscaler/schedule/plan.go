package schedule

import (
	"time"
)

// Entry is a window, and what it sets while it is open. What is nil is not set.
type Entry struct {
	// Name is that of the schedule.
	Name string
	// Window is when it counts.
	Window *Window
	// Replicas is the number of Pods.
	Replicas *int32
	// MinReplicas and MaxReplicas are the bounds of a HorizontalPodAutoscaler.
	MinReplicas, MaxReplicas *int32
}

// Plan is all entries of one object. Of open windows, the highest number wins, for
// Replicas, MinReplicas and MaxReplicas each; of equal numbers, the first entry's.
type Plan []Entry

// Setting is a number that counts, and the entry that sets it. The zero value
// means that no entry does.
type Setting struct {
	By     string
	Number int32
}

// Force is what counts at a moment.
type Force struct {
	Replicas, MinReplicas, MaxReplicas Setting
}

// At is what counts at a moment, and when that changes next, be it only who sets a
// number. The zero time means that no change is known: see [Window.At].
func (p Plan) At(now time.Time) (force Force, change time.Time) {
	looks := make([]look, len(p))
	for i, entry := range p {
		looks[i].open, looks[i].change = entry.Window.At(now)
	}
	for _, kind := range []struct {
		setting *Setting
		number  func(Entry) *int32
	}{
		{&force.Replicas, func(e Entry) *int32 { return e.Replicas }},
		{&force.MinReplicas, func(e Entry) *int32 { return e.MinReplicas }},
		{&force.MaxReplicas, func(e Entry) *int32 { return e.MaxReplicas }},
	} {
		var turn time.Time
		*kind.setting, turn = p.highest(looks, kind.number)
		change = earlier(change, turn)
	}
	return force, change
}

// look is what a window is like at a moment.
type look struct {
	open   bool
	change time.Time
}

// highest is the highest number of the open windows, and when another one counts:
// when its window closes, or one opens that is before it in rank. What other
// windows do meanwhile changes nothing.
func (p Plan) highest(looks []look, number func(Entry) *int32) (setting Setting, change time.Time) {
	best := -1
	for i, entry := range p {
		if n := number(entry); n != nil && looks[i].open && (best < 0 || *n > setting.Number) {
			best, setting = i, Setting{By: entry.Name, Number: *n}
		}
	}
	if best >= 0 {
		change = looks[best].change
	}
	for i, entry := range p {
		n := number(entry)
		if n == nil || looks[i].open {
			continue
		}
		if best < 0 || *n > setting.Number || *n == setting.Number && i < best {
			change = earlier(change, looks[i].change)
		}
	}
	return setting, change
}

// earlier is the earlier of two times, of which the zero one is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
