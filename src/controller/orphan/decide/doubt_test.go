package decide

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const longest = 30 * time.Minute

var now = time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)

func TestMany(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		orphans, vms int
		want         bool
	}{
		"none of none":         {0, 0, false},
		"one of one":           {1, 1, false},
		"two of two":           {2, 2, true},
		"four of five":         {4, 5, false},
		"five of fifty":        {5, 50, false},
		"five of forty-nine":   {5, 49, true},
		"a hundred of a fleet": {100, 1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Many(test.orphans, test.vms); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}

func TestALookDoubtsAfterALongBreakAndForALargeNumber(t *testing.T) {
	t.Parallel()
	recently, longAgo := now.Add(-longest), now.Add(-longest-time.Second)
	for name, test := range map[string]struct {
		before       Looks
		many         bool
		confirmation string
		want         Looks
	}{
		"the first look":                                {Looks{}, false, "", Looks{LookedAt: now}},
		"the first look finds very many":                {Looks{}, true, "", Looks{LookedAt: now, DoubtedAt: now}},
		"a short break":                                 {Looks{LookedAt: recently}, false, "", Looks{LookedAt: now}},
		"a long break":                                  {Looks{LookedAt: longAgo}, false, "", Looks{LookedAt: now, DoubtedAt: now}},
		"very many":                                     {Looks{LookedAt: recently}, true, "", Looks{LookedAt: now, DoubtedAt: now}},
		"a doubt stands until it is answered":           {Looks{LookedAt: recently, DoubtedAt: recently}, false, "", Looks{LookedAt: now, DoubtedAt: recently}},
		"an answer to another doubt is none":            {Looks{LookedAt: recently, DoubtedAt: recently}, false, Confirmation(longAgo), Looks{LookedAt: now, DoubtedAt: recently}},
		"an answer ends it":                             {Looks{LookedAt: recently, DoubtedAt: recently}, false, Confirmation(recently), Looks{LookedAt: now}},
		"an answer lasts while there are still so many": {Looks{LookedAt: recently, DoubtedAt: recently}, true, Confirmation(recently), Looks{LookedAt: now, DoubtedAt: recently}},
		"a break after an answer is a new doubt":        {Looks{LookedAt: longAgo, DoubtedAt: longAgo}, false, Confirmation(longAgo), Looks{LookedAt: now, DoubtedAt: now}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, test.before.Next(now, longest, test.many, test.confirmation)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A copy of a cluster begins with what was stored some time ago, the answers to
// earlier doubts included.
func TestACopyIsDoubtedWhateverWasConfirmedBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at, looks, confirmation := now, Looks{}, ""
		look := func(after time.Duration) {
			at = at.Add(after)
			looks = looks.Next(at, longest, rapid.Bool().Draw(t, "many"), confirmation)
			if !looks.DoubtedAt.IsZero() && rapid.Bool().Draw(t, "confirms") {
				confirmation = Confirmation(looks.DoubtedAt)
			}
		}
		for range rapid.IntRange(1, 20).Draw(t, "looks before the backup") {
			look(time.Duration(rapid.IntRange(1, 3600).Draw(t, "seconds")) * time.Second)
		}
		restored := looks.Next(at.Add(longest+time.Second), longest, false, confirmation)
		if restored.DoubtedAt.IsZero() || restored.Confirmed(confirmation) {
			t.Fatalf("%+v becomes %+v, which %q confirms", looks, restored, confirmation)
		}
	})
}
