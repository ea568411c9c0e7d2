package faults

import (
	"slices"
	"time"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/mockprovider"
)

// looking is the GET of a VM that runs, at a provider without lists: where there are
// lists, no settled VM is asked for by itself.
func looking() []Row {
	failed := each(failing("get", before), func(r *Row) {
		r.Class, r.Shows, r.Warns, r.Pace = provider.Transient, still(held(computev1.ReasonProviderError)), warns{computev1.ReasonProviderError: 1}, Backoff
	})
	rows := slices.Concat(
		failed,
		each([]Row{throttled("get", 429), throttled("get", 503)}, func(r *Row) { r.Shows = untold }),
		each(refused("get"), func(r *Row) {
			r.Class, r.Shows, r.Warns, r.Pace = provider.Unauthorized, still(held(computev1.ReasonProviderNotReady)), warns{computev1.ReasonProviderNotReady: 1}, Backoff
		}),
		[]Row{
			{
				Name: "answers 400", Class: provider.Rejected, Faults: one(mockprovider.Fault{Operation: "get", Status: 400}),
				Shows: still(held(computev1.ReasonProviderError)), Warns: warns{computev1.ReasonProviderError: 1}, Pace: Backoff,
			},
			{
				Name: "answers with a redirect", Class: provider.Rejected, Faults: one(mockprovider.Fault{Operation: "get", Status: 302}),
				Shows: still(held(computev1.ReasonProviderError)), Warns: warns{computev1.ReasonProviderError: 1}, Pace: Backoff,
			},
		},
	)
	return each(rows, func(r *Row) { r.At, r.During, r.VMs = Minimal, Looking, 1 })
}

// retryAfter is what Retry-After may hold.
func retryAfter() []Row {
	const assumed = time.Second
	row := func(status int, text, name string, least time.Duration) Row {
		r := throttled("get", status)
		r.Name += ": " + name
		r.Faults[0].RetryAfter, r.Pause, r.Shows = text, least, untold
		if text == Date {
			r.Faults[0].Count = 1
		}
		return r
	}
	rows := slices.Concat([]Row{
		row(429, Date, "a date", 5*time.Second),
		row(503, Date, "a date", 5*time.Second),
		row(429, "soon", "garbage, which counts as 1 s", assumed),
		row(429, "-5", "negative, which counts as 1 s", assumed),
		row(429, "0", "0, which counts as 1 s", assumed),
		row(429, "Thu, 01 Jan 1970 00:00:00 GMT", "a date that is over, which counts as 1 s", assumed),
	}, absurd(row), uncounted())
	return each(rows, func(r *Row) { r.At, r.During, r.VMs = Minimal, Looking, 1 })
}

// absurd is a pause of ten years.
func absurd(row func(status int, text, name string, least time.Duration) Row) []Row {
	const tenYears = "315360000"
	return each([]Row{
		row(429, tenYears, "ten years, which count as 5 min", 0),
		row(503, tenYears, "ten years, which count as 5 min", 0),
	}, func(r *Row) { r.Pace, r.Ends = Capped, ChangesProvider })
}

// uncounted is a 503 whose Retry-After says nothing.
func uncounted() []Row {
	row := func(text string) Row {
		return Row{
			Name: "answers 503 and Retry-After: " + text + ", which counts as none", Class: provider.Transient,
			Faults: one(mockprovider.Fault{Operation: "get", Status: 503, RetryAfter: text}),
			Shows:  still(held(computev1.ReasonProviderError)), Warns: warns{computev1.ReasonProviderError: 1}, Pace: Backoff,
		}
	}
	return []Row{row("soon"), row("-5"), row("0")}
}

// resizing is the PATCH.
func resizing() []Row {
	const op = "resize"
	lasts := func(class provider.Class) func(*Row) {
		return func(r *Row) {
			r.Class, r.Shows, r.Warns, r.Pace = class, still(held(computev1.ReasonProviderError)), warns{computev1.ReasonProviderError: 1}, Backoff
		}
	}
	conflict := Row{Name: "answers 409", Faults: one(mockprovider.Fault{Operation: op, Status: 409})}
	unknown := Row{Name: "answers 404 for a VM that it shows", Faults: one(mockprovider.Fault{Operation: op, Status: 404})}
	rows := slices.Concat(
		each(failing(op, before)[:3], lasts(provider.Ambiguous)),
		each(failing(op, after), found(op)),
		each([]Row{conflict}, lasts(provider.Transient)),
		each([]Row{unknown}, lasts(provider.NotFound)),
		each([]Row{throttled(op, 429)}, func(r *Row) { r.Shows = still(held(computev1.ReasonThrottled)) }),
		each([]Row{throttled(op, 503)}, func(r *Row) {
			r.Class, r.Shows, r.Warns = provider.Ambiguous, still(held(computev1.ReasonProviderError)), warns{computev1.ReasonProviderError: 1}
		}),
		each(refused(op), func(r *Row) {
			r.Class, r.Shows, r.Warns, r.Pace = provider.Unauthorized, still(held(computev1.ReasonProviderNotReady)), warns{computev1.ReasonProviderNotReady: 1}, Backoff
		}),
		each([]Row{rejected("answers 422", mockprovider.Fault{Operation: op, Status: 422})}, func(r *Row) {
			r.Shows, r.Ends, r.Calls = still(r.Shows), UndoesEdit, calls{op: 1}
		}),
	)
	return each(rows, func(r *Row) { r.At, r.During, r.VMs = Full, Resizing, 1 })
}

// found is a call whose effect the next look finds, so that it is not repeated.
func found(operation string) func(*Row) {
	return func(r *Row) {
		r.Class, r.Warns, r.Calls = provider.Ambiguous, warns{computev1.ReasonProviderError: 1}, calls{operation: 1}
	}
}
