package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // The image is static and has no time zones of its own.

	"github.com/robfig/cron/v3"
)

// Reasons why a window cannot be understood. Parse wraps them.
var (
	// ErrCron means that the cron expression cannot be read.
	ErrCron = errors.New(`write minute, hour, day of month, month and day of week in cron, for example "0 8 * * 1-5"`)
	// ErrNever means that the cron expression names no day that exists.
	ErrNever = errors.New("it never comes: no month that cron names has such a day")
	// ErrZone means that there is no such time zone.
	ErrZone = errors.New("write a name of the IANA time zone database in timeZone, for example Europe/Berlin")
	// ErrLength means that the length is not positive.
	ErrLength = errors.New("the duration must be longer than 0s")
)

const (
	minutesOfDay = 24 * 60
	// horizon is how far ahead the end of a window is looked for whose openings touch,
	// day after day: far enough for all that comes once a year.
	horizon = 400 * 24 * time.Hour
)

// Window is a time that comes again and again.
type Window struct {
	// clock knows no time zone: it reckons with what the clock on the wall shows, as if
	// that were UTC. The library's own reckoning with zones leaves out times in zones
	// whose clocks are moved by half an hour, and such that are jumped over.
	clock  *cron.SpecSchedule
	zone   *time.Location
	length time.Duration
	// last is, for each minute of the day at which the window opens, the last one of
	// that day up to which the openings follow each other without a gap.
	last [minutesOfDay]int
}

// parser reads the five fields that crontab(5) has, and @daily and its like.
var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// Parse makes a Window of a cron expression, the name of a time zone (none means
// UTC) and the length of time for which the window stays open. An error is
// ErrCron, ErrNever, ErrZone or ErrLength, and says what a user is to write.
func Parse(expression, zone string, length time.Duration) (*Window, error) {
	clock, err := parseClock(expression)
	if err != nil {
		return nil, err
	}
	location, err := time.LoadLocation(zone)
	if err != nil || zone == time.Local.String() {
		return nil, fmt.Errorf("there is no time zone %q: %w", zone, ErrZone)
	}
	if length <= 0 {
		return nil, ErrLength
	}
	w := &Window{clock: clock, zone: location, length: length}
	w.chain()
	return w, nil
}

func parseClock(expression string) (*cron.SpecSchedule, error) {
	if strings.Contains(expression, "TZ=") {
		return nil, fmt.Errorf("%q has a time zone, which belongs into timeZone: %w", expression, ErrCron)
	}
	parsed, err := parser.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be read (%w): %w", expression, err, ErrCron)
	}
	clock, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("%q names no time of day: %w", expression, ErrCron)
	}
	clock.Location = time.UTC
	if clock.Minute == 0 || clock.Hour == 0 || clock.Dom == 0 || clock.Month == 0 || clock.Dow == 0 {
		return nil, fmt.Errorf("%q has a field without a number: %w", expression, ErrCron)
	}
	// The year 2000 has all days that any year has.
	if clock.Next(time.Date(1999, time.December, 31, 23, 59, 59, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("%q: %w", expression, ErrNever)
	}
	return clock, nil
}

// chain fills in last.
func (w *Window) chain() {
	following := -1
	for minute := minutesOfDay - 1; minute >= 0; minute-- {
		w.last[minute] = minute
		if w.clock.Hour&(1<<(minute/60)) == 0 || w.clock.Minute&(1<<(minute%60)) == 0 {
			continue
		}
		if following >= 0 && time.Duration(following-minute)*time.Minute <= w.length {
			w.last[minute] = w.last[following]
		}
		following = minute
	}
}

// At reports whether the window is open at a moment, and when that changes next.
// The zero time means that it does not close within 400 days, or does not open
// within five years.
func (w *Window) At(now time.Time) (open bool, change time.Time) {
	// The clock on the wall counts, which may be set, and not the monotonic one.
	now = now.Round(0)
	opening := w.next(now.Add(-w.length))
	if opening.IsZero() || opening.After(now) {
		return false, opening
	}
	for {
		last := w.lastInRow(opening)
		end := last.Add(w.length)
		opening = w.next(last)
		switch {
		case opening.IsZero(), opening.After(end):
			return true, end
		case end.Sub(now) > horizon:
			return true, time.Time{}
		}
	}
}

// next is the first opening after a moment; the zero time if there is none within
// five years. Between two changes of the zone's offset the clock on the wall runs
// as UTC does, so that an offset is all there is to reckon with.
func (w *Window) next(t time.Time) time.Time {
	t = t.In(w.zone)
	shown := w.clock.Next(wall(t))
	for !shown.IsZero() {
		at := t.Add(shown.Sub(wall(t)))
		_, turn := t.ZoneBounds()
		switch {
		case turn.IsZero(), at.Before(turn):
			return at
		case shown.Before(wall(turn)):
			return turn
		}
		t = turn
		// A clock may show the opening at the very turn.
		shown = w.clock.Next(wall(t).Add(-time.Second))
	}
	return shown
}

// lastInRow is the last opening of the same day up to which the openings follow
// each other without a gap. A day on which the clock turns before that is gone
// through one by one, and so is one that is begun by a jump.
func (w *Window) lastInRow(opening time.Time) time.Time {
	minute := opening.Hour()*60 + opening.Minute()
	last := opening.Add(time.Duration(w.last[minute]-minute) * time.Minute)
	_, turn := opening.ZoneBounds()
	shown := wall(opening)
	if !turn.IsZero() && !last.Before(turn) || !w.clock.Next(shown.Add(-time.Second)).Equal(shown) {
		return opening
	}
	return last
}

// wall is what the clock on the wall shows at a moment, as if that were UTC.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}
