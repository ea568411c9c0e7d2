package contention

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestFiveCorrectionsWithinTenMinutesMakeAThingContended(t *testing.T) {
	t.Parallel()
	var h History
	for i := range Limit - 1 {
		if h.Corrected(start.Add(time.Duration(i) * time.Second)) {
			t.Fatalf("contended after %d corrections", i+1)
		}
	}
	last := start.Add(Window - time.Second)
	if !h.Corrected(last) {
		t.Fatal("not contended after the fifth")
	}
	if got := h.Wait(last.Add(time.Minute)); got != Rest-time.Minute {
		t.Errorf("the next correction waits %s, want %s", got, Rest-time.Minute)
	}
	if got := h.Wait(last.Add(Rest)); got != 0 {
		t.Errorf("after the rest it still waits %s", got)
	}
	if h.Corrected(last.Add(Rest)) {
		t.Error("that it is contended is told twice")
	}
	if got := h.Wait(last.Add(Rest)); got != Rest {
		t.Errorf("the correction after that waits %s, want %s: contended until it is left alone", got, Rest)
	}
	if h.Contended(last.Add(Rest + Window)) {
		t.Error("still contended after ten quiet minutes")
	}
}

func TestAContentionThatAnotherProcessHasFoundGoesOn(t *testing.T) {
	t.Parallel()
	h := Resumed(start)
	if !h.Contended(start) || h.Wait(start) != Rest {
		t.Errorf("contended: %t, to wait: %s", h.Contended(start), h.Wait(start))
	}
	if h.Contended(start.Add(Window)) {
		t.Error("still contended after ten quiet minutes")
	}
}

func TestCorrectionsFarApartAreNoContention(t *testing.T) {
	t.Parallel()
	var h History
	for i := range 100 {
		if h.Corrected(start.Add(time.Duration(i) * Window / (Limit - 1))) {
			t.Fatalf("contended after %d corrections", i+1)
		}
	}
}

func TestNoHistoryAllowsMoreCorrectionsThanItsBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var h History
		now := start
		var made []time.Time
		for range rapid.IntRange(1, 200).Draw(t, "changes") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(Window)).Draw(t, "after")))
			if h.Wait(now) > 0 {
				now = now.Add(h.Wait(now))
			}
			h.Corrected(now)
			made = append(made, now)
		}
		// The fast ones, and then one for each rest.
		const most = Limit + int(Window/Rest)
		for i := range made {
			within := 0
			for _, at := range made[i:] {
				if at.Sub(made[i]) < Window {
					within++
				}
			}
			if within > most {
				t.Fatalf("%d corrections within %s, want at most %d", within, Window, most)
			}
		}
	})
}

func TestAThingThatWasNeverCorrectedIsFree(t *testing.T) {
	t.Parallel()
	var h History
	if h.Contended(start) || h.Wait(start) != 0 || !h.Over(start) {
		t.Errorf("an empty history is %+v", h)
	}
}
