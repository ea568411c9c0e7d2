package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAPlan(t *testing.T) {
	t.Parallel()
	entry := func(name, expression string, length time.Duration, replicas int32) Entry {
		return Entry{Name: name, Window: window(t, expression, "UTC", length), Replicas: &replicas}
	}
	day := entry("day", "0 8 * * *", 12*time.Hour, 8)
	noon := entry("noon", "0 11 * * *", 2*time.Hour, 20)
	low := entry("low", "*/10 * * * *", 5*time.Minute, 1)
	for name, test := range map[string]struct {
		plan   Plan
		now    string
		force  Force
		change string
	}{
		"nothing is planned":       {nil, "12:00", Force{}, "never"},
		"before the first window":  {Plan{day, noon}, "07:00", Force{}, "08:00"},
		"a higher window is ahead": {Plan{day, noon}, "09:00", Force{Replicas: Setting{"day", 8}}, "11:00"},
		"the higher of two wins":   {Plan{day, noon}, "12:00", Force{Replicas: Setting{"noon", 20}}, "13:00"},
		"the lower one goes on":    {Plan{day, noon}, "13:00", Force{Replicas: Setting{"day", 8}}, "20:00"},
		"a lower one changes nothing while it comes and goes": {
			Plan{low, day}, "09:02", Force{Replicas: Setting{"day", 8}}, "20:00",
		},
		"of equal numbers the first entry's counts": {
			Plan{day, entry("late", "0 15 * * *", 10*time.Hour, 8)}, "16:00", Force{Replicas: Setting{"day", 8}}, "20:00",
		},
		"a first entry of the same number takes over": {
			Plan{entry("late", "0 15 * * *", 10*time.Hour, 8), day}, "12:00", Force{Replicas: Setting{"day", 8}}, "15:00",
		},
		"zero is a number": {
			Plan{entry("night", "0 0 * * *", 6*time.Hour, 0)}, "01:00", Force{Replicas: Setting{"night", 0}}, "06:00",
		},
		"one that follows without a gap takes over at the seam": {
			Plan{day, entry("evening", "0 20 * * *", time.Hour, 3)}, "19:00", Force{Replicas: Setting{"day", 8}}, "20:00",
		},
		"bounds win each for itself": {
			Plan{
				{Name: "wide", Window: day.Window, MinReplicas: new(int32(2)), MaxReplicas: new(int32(30))},
				{Name: "high", Window: noon.Window, MinReplicas: new(int32(10)), MaxReplicas: new(int32(20))},
			},
			"12:00",
			Force{MinReplicas: Setting{"high", 10}, MaxReplicas: Setting{"wide", 30}},
			"13:00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			force, change := test.plan.At(at(t, "UTC", "2026-11-30 "+test.now+":00 +0000"))
			if diff := cmp.Diff(test.force, force); diff != "" {
				t.Error(diff)
			}
			want := test.change
			if want != "never" {
				want = "2026-11-30 " + want + ":00 +0000"
			}
			if got := show(t, "UTC", change); got != want {
				t.Errorf("the next change is %s, want %s", got, want)
			}
		})
	}
}

// BenchmarkAt is what the costliest windows cost: all that go on for ever.
func BenchmarkAt(b *testing.B) {
	for name, length := range map[string]time.Duration{"EveryMinuteForAMinute": time.Minute, "EveryMinuteForAThousandHours": 1000 * time.Hour} {
		b.Run(name, func(b *testing.B) {
			w, err := Parse("* * * * *", "Europe/Berlin", length)
			if err != nil {
				b.Fatal(err)
			}
			now := time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)
			for b.Loop() {
				w.At(now)
			}
		})
	}
	b.Run("Parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := Parse("0 8 * * 1-5", "Europe/Berlin", 10*time.Hour); err != nil {
				b.Fatal(err)
			}
		}
	})
}
