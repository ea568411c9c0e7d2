package faults

import (
	"slices"
	"time"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/mockprovider"
)

// deleting is the DELETE.
func deleting() []Row {
	const op = "delete"
	lasts := func(class provider.Class) func(*Row) {
		return func(r *Row) {
			r.Class, r.Shows, r.Warns, r.Pace = class, leaving(held(computev1.ReasonProviderError)), warns{computev1.ReasonProviderError: 1}, Backoff
		}
	}
	conflict := Row{Name: "answers 409", Faults: one(mockprovider.Fault{Operation: op, Status: 409})}
	refuses := func(end End) Row {
		r := rejected("answers 422", mockprovider.Fault{Operation: op, Status: 422})
		r.Shows, r.Ends, r.Calls = leaving(r.Shows), end, calls{op: 1}
		return r
	}
	removed, retained := refuses(RemovesVM), refuses(Retains)
	removed.Name += ", and a person removes the VM there"
	retained.Name += ", and a person lets it stay"
	retained.Warns = warns{computev1.ReasonRejected: 1, "Retained": 1}
	rows := slices.Concat(
		each(failing(op, before)[:3], lasts(provider.Ambiguous)),
		each(failing(op, after), found(op)),
		each([]Row{conflict}, lasts(provider.Transient)),
		each([]Row{throttled(op, 429)}, func(r *Row) { r.Shows = leaving(held(computev1.ReasonThrottled)) }),
		each([]Row{throttled(op, 503)}, func(r *Row) {
			r.Class, r.Shows, r.Warns = provider.Ambiguous, leaving(held(computev1.ReasonProviderError)), warns{computev1.ReasonProviderError: 1}
		}),
		each(refused(op), func(r *Row) {
			r.Class, r.Shows, r.Warns, r.Pace = provider.Unauthorized, leaving(held(computev1.ReasonProviderNotReady)), warns{computev1.ReasonProviderNotReady: 1}, Backoff
		}),
		[]Row{removed, retained, {
			Name: "answers 404 for a VM that it shows", Class: provider.NotFound,
			Faults: []mockprovider.Fault{{Operation: op, Status: 404}},
			Shows:  leaving(held(computev1.ReasonDeleting)), Calls: calls{op: 2},
		}},
	)
	return each(rows, func(r *Row) { r.At, r.During, r.VMs = Full, Deleting, 1 })
}

// longTimeout makes absence count late: a failure that hides a VM must have ended
// before.
const longTimeout = 2 * time.Minute

// finding is the search by key.
func finding() []Row {
	const op = "find"
	rows := slices.Concat(
		failing(op, before)[:3],
		[]Row{
			{Name: "answers with several VMs", Faults: one(mockprovider.Fault{Operation: op, When: after, Body: "doubled"})},
			{Name: "answers with a page that does not say what follows", Faults: one(mockprovider.Fault{Operation: op, When: after, Body: "partial"})},
		},
	)
	rows = each(rows, func(r *Row) {
		r.Class, r.Shows, r.Pace = provider.Transient, leaving(held(computev1.ReasonProviderError)), Backoff
	})
	rows = append(rows, each([]Row{throttled(op, 429), throttled(op, 503)}, func(r *Row) {
		r.Shows = leaving(held(computev1.ReasonThrottled))
	})...)
	rows = append(rows, each(refused(op), func(r *Row) {
		r.Class, r.Shows, r.Pace = provider.Unauthorized, leaving(held(computev1.ReasonProviderNotReady)), Backoff
		r.Warns = warns{computev1.ReasonProviderNotReady: 1}
	})...)
	rows = append(rows, Row{
		Name: "answers with an empty list", Class: provider.NotFound,
		Faults: one(mockprovider.Fault{Operation: op, When: after, Body: "empty"}),
		Shows:  leaving(held(computev1.ReasonDeleting)),
	})
	return each(rows, func(r *Row) {
		r.At, r.During, r.VMs, r.Timeout, r.Calls = Full, Finding, 1, longTimeout, calls{"delete": 1}
	})
}
