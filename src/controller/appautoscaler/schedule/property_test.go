package schedule

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// span is how far the brute force looks.
const span = 3 * 24 * time.Hour

// moments are near changes of clocks, and one that is near none.
var moments = map[string][]string{
	berlin:              {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-07-01T00:00:00Z"},
	lordHowe:            {"2026-10-03T15:30:00Z", "2026-04-04T15:00:00Z"},
	"America/St_Johns":  {"2010-11-07T02:31:00Z", "2010-03-14T03:31:00Z"},
	"America/Sao_Paulo": {"2018-11-04T03:00:00Z", "2018-02-18T02:00:00Z"},
	"Pacific/Apia":      {"2011-12-30T10:00:00Z"},
	"UTC":               {"2028-02-29T00:00:00Z", "2026-12-31T23:59:00Z"},
}

func expressions() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		field := func(label string, values ...string) string { return rapid.SampledFrom(values).Draw(t, label) }
		return strings.Join([]string{
			field("minute", "*", "0", "30", "*/15", "5,35", "10-20", "59"),
			field("hour", "*", "0", "1", "2", "3", "1-3", "*/6", "23", "22-23"),
			field("day", "*", "*", "29", "1,15", "28-31", "*/2"),
			field("month", "*", "*", "*", "2,3", "10-12"),
			field("weekday", "*", "*", "0", "1-5", "SAT,SUN"),
		}, " ")
	})
}

// source is an Entry's window before it is parsed.
type source struct {
	expression, zone string
	length           time.Duration
}

func sources(zone string) *rapid.Generator[source] {
	return rapid.Custom(func(t *rapid.T) source {
		return source{
			expression: expressions().Draw(t, "expression"), zone: zone,
			length: time.Duration(rapid.SampledFrom([]int{1, 7, 30, 60, 90, 24 * 60, 25 * 60, 60 * 60}).Draw(t, "length")) * time.Minute,
		}
	})
}

func parse(t *rapid.T, s source) *Window {
	w, err := Parse(s.expression, s.zone, s.length)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// drawMoment is a zone, and a moment near a change of its clocks.
func drawMoment(t *rapid.T) (zone string, now time.Time) {
	zone = rapid.SampledFrom([]string{berlin, lordHowe, "America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "UTC"}).Draw(t, "zone")
	moment, err := time.Parse(time.RFC3339, rapid.SampledFrom(moments[zone]).Draw(t, "moment"))
	if err != nil {
		t.Fatal(err)
	}
	return zone, moment.Add(time.Duration(rapid.IntRange(-48*3600, 48*3600).Draw(t, "seconds")) * time.Second)
}

// opens reports whether a window opens at a minute: its clock shows what the
// expression says, or jumps over it.
func opens(w *Window, minute time.Time) bool {
	shows := func(shown time.Time) bool { return w.clock.Next(shown.Add(-time.Second)).Equal(shown) }
	now := wall(minute.In(w.zone))
	before := wall(minute.Add(-time.Minute).In(w.zone))
	for skipped := before.Add(time.Minute); skipped.Before(now); skipped = skipped.Add(time.Minute) {
		if shows(skipped) {
			return true
		}
	}
	return shows(now)
}

// timeline is, minute by minute, whether a window is open.
func timeline(w *Window, from time.Time) []bool {
	left := time.Duration(0)
	var open []bool
	for minute := from.Add(-w.length); minute.Before(from.Add(span)); minute = minute.Add(time.Minute) {
		left -= time.Minute
		if opens(w, minute) {
			left = w.length
		}
		if !minute.Before(from) {
			open = append(open, left > 0)
		}
	}
	return open
}

func TestAWindowIsOpenAsGoingThroughTheMinutesSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone, now := drawMoment(t)
		w := parse(t, sources(zone).Draw(t, "window"))
		from := now.Truncate(time.Minute)
		open := timeline(w, from)
		got, change := w.At(now)
		if got != open[0] {
			t.Fatalf("open %t at %s, want %t", got, now, open[0])
		}
		want := time.Time{}
		for i := range open {
			if open[i] != open[0] {
				want = from.Add(time.Duration(i) * time.Minute)
				break
			}
		}
		near := !change.IsZero() && change.Before(from.Add(span))
		if near != !want.IsZero() || near && !change.Equal(want) {
			t.Fatalf("from %s, open %t: the next change is %s, want %s", now, got, change, want)
		}
	})
}

// plans are a few entries in one zone, with numbers that are often equal.
func plans(zone string) *rapid.Generator[Plan] {
	return rapid.Custom(func(t *rapid.T) Plan {
		plan := make(Plan, rapid.IntRange(1, 4).Draw(t, "entries"))
		for i := range plan {
			plan[i] = Entry{Name: string(rune('a' + i)), Window: parse(t, sources(zone).Draw(t, "window"))}
			for _, number := range []**int32{&plan[i].Replicas, &plan[i].MinReplicas, &plan[i].MaxReplicas} {
				if rapid.Bool().Draw(t, "set") {
					*number = new(rapid.Int32Range(1, 3).Draw(t, "number"))
				}
			}
		}
		return plan
	})
}

func TestWhatCountsIsTheSameUpToTheNextChangeAndAnotherThen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone, now := drawMoment(t)
		plan := plans(zone).Draw(t, "plan")
		force, change := plan.At(now)
		if change.IsZero() {
			change = now.Add(span)
		} else if after, _ := plan.At(change); after == force {
			t.Fatalf("nothing changes at %s: %+v", change, force)
		}
		if !change.After(now) {
			t.Fatalf("the next change, at %s, is not after %s", change, now)
		}
		between := now.Add(time.Duration(rapid.Int64Range(0, int64(change.Sub(now))-1).Draw(t, "between")))
		for _, moment := range []time.Time{between, change.Add(-time.Nanosecond)} {
			if got, next := plan.At(moment); got != force || !next.IsZero() && !next.Equal(change) && change.Sub(now) < span {
				t.Fatalf("at %s: %+v until %s, want %+v until %s as at %s", moment, got, next, force, change, now)
			}
		}
	})
}

func TestOfOpenWindowsTheHighestNumberWins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone, now := drawMoment(t)
		plan := plans(zone).Draw(t, "plan")
		want := Setting{}
		for _, entry := range plan {
			if open, _ := entry.Window.At(now); open && entry.MaxReplicas != nil && *entry.MaxReplicas > want.Number {
				want = Setting{By: entry.Name, Number: *entry.MaxReplicas}
			}
		}
		if force, _ := plan.At(now); force.MaxReplicas != want {
			t.Fatalf("%+v, want %+v", force.MaxReplicas, want)
		}
	})
}

func TestNoExpressionAndNoZoneBringsTheParserDown(t *testing.T) {
	t.Parallel()
	letters := rapid.SampledFrom([]rune("0123456789*/,-? @TZ=CRONMONJANevery"))
	rapid.Check(t, func(t *rapid.T) {
		w, err := Parse(rapid.StringOf(letters).Draw(t, "expression"), rapid.String().Draw(t, "zone"), time.Hour)
		if (w == nil) != (err != nil) {
			t.Fatalf("window %v, error %v", w, err)
		}
	})
}
