package faults

import (
	"slices"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/mockprovider"
)

// creating is the POST at a provider that makes one VM for one key.
func creating() []Row {
	rows := slices.Concat(
		each(slices.Concat(failing("create", before), failing("create", after)), func(r *Row) {
			r.Class, r.Shows, r.Warns, r.Pace = provider.Ambiguous, held(computev1.ReasonProviderError), warns{computev1.ReasonProviderError: 1}, Backoff
		}),
		each([]Row{throttled("create", 429)}, func(r *Row) { r.Shows = held(computev1.ReasonThrottled) }),
		each([]Row{throttled("create", 503)}, func(r *Row) {
			// Not Throttled: a server that cannot serve may not know how far it came.
			r.Class, r.Shows, r.Warns = provider.Ambiguous, held(computev1.ReasonProviderError), warns{computev1.ReasonProviderError: 1}
		}),
		each(refused("create"), func(r *Row) {
			r.Class, r.Shows, r.Warns, r.Pace = provider.Unauthorized, held(computev1.ReasonProviderNotReady), warns{computev1.ReasonProviderNotReady: 1}, Backoff
		}),
		[]Row{
			rejected("answers 400", mockprovider.Fault{Operation: "create", Status: 400}),
			rejected("answers 422", mockprovider.Fault{Operation: "create", Status: 422}),
			{
				Name: "answers 409", Class: provider.Conflict, Faults: one(mockprovider.Fault{Operation: "create", Status: 409}),
				Shows: stalled(computev1.ReasonCreateConflict), Warns: warns{computev1.ReasonCreateConflict: 1},
				Pace: Hourly, Ends: EditsSpec,
			},
			conflictOnRepeat(400), conflictOnRepeat(422),
			{
				Name: "answers 410 once: the key's VM is deleted since", Class: provider.NotFound,
				Faults: []mockprovider.Fault{{Operation: "create", Status: 410}},
				Warns:  warns{computev1.ReasonProviderError: 1}, Calls: calls{"create": 2},
			},
			{
				Name: "answers 410 to every key", Class: provider.NotFound,
				Faults: one(mockprovider.Fault{Operation: "create", Status: 410}),
				Shows:  held(computev1.ReasonProviderError), Warns: warns{computev1.ReasonProviderError: 1}, Pace: Backoff,
			},
		},
	)
	return each(rows, func(r *Row) { r.At, r.During, r.VMs = Full, Creating, 1 })
}

func rejected(name string, fault mockprovider.Fault) Row {
	return Row{
		Name: name, Class: provider.Rejected, Faults: one(fault),
		Shows: stalled(computev1.ReasonRejected), Warns: warns{computev1.ReasonRejected: 1},
		Pace: Once, Ends: EditsSpec,
	}
}

// conflictOnRepeat is a request that was accepted once, and its answer lost.
func conflictOnRepeat(status int) Row {
	name := map[int]string{400: "answers 400", 422: "answers 422"}[status] + " to a repeat"
	return Row{
		Name: name, Class: provider.Conflict,
		Faults: []mockprovider.Fault{
			{Operation: "create", When: after, Drop: true},
			{Operation: "create", Status: status, Skip: 1, Count: forever},
		},
		Shows: stalled(computev1.ReasonCreateConflict),
		Warns: warns{computev1.ReasonProviderError: 1, computev1.ReasonCreateConflict: 1},
		Pace:  Hourly, Ends: EditsSpec,
	}
}

// creatingAtTheMinimum is the POST at a provider at which a repeat would make a
// second VM.
func creatingAtTheMinimum() []Row {
	ambiguous := func(end End, vms int) func(*Row) {
		return func(r *Row) {
			r.Class, r.Shows, r.Warns = provider.Ambiguous, stalled(computev1.ReasonCreateAmbiguous), warns{computev1.ReasonCreateAmbiguous: 1}
			r.Pace, r.Ends, r.VMs = Once, end, vms
		}
	}
	rows := slices.Concat(
		each(failing("create", before)[:3], ambiguous(ConfirmsNone, 1)),
		each(failing("create", after), ambiguous(TakesOver, 1)),
		each([]Row{throttled("create", 503)}, ambiguous(ConfirmsNone, 1)),
		each([]Row{throttled("create", 429)}, func(r *Row) { r.Shows, r.VMs = held(computev1.ReasonThrottled), 1 }),
		each(refused("create"), func(r *Row) {
			r.Class, r.Shows, r.Warns, r.Pace = provider.Unauthorized, held(computev1.ReasonProviderNotReady), warns{computev1.ReasonProviderNotReady: 1}, Backoff
			r.VMs = 1
		}),
		each([]Row{
			rejected("answers 400", mockprovider.Fault{Operation: "create", Status: 400}),
			rejected("answers 422", mockprovider.Fault{Operation: "create", Status: 422}),
		}, func(r *Row) { r.VMs = 1 }),
	)
	rows = each(rows, func(r *Row) { r.At = Minimal })
	keyless := Row{
		Name: "loses the answer, and finds no VM by its key", At: ListOnly, Class: provider.Ambiguous, Timeout: shortTimeout,
		Faults: []mockprovider.Fault{{Operation: "create", When: after, Drop: true}},
		Shows:  stalled(computev1.ReasonCreateAmbiguous),
		Warns:  warns{computev1.ReasonProviderError: 1, computev1.ReasonCreateAmbiguous: 1},
		Pace:   Once, Ends: TakesOver, VMs: 1,
	}
	return each(append(rows, keyless), func(r *Row) { r.During = Creating })
}

// notShown is eventual consistency: reads say 404 for a while after the POST.
func notShown() []Row {
	lost := []mockprovider.Fault{{Operation: "create", When: after, Drop: true}}
	return each([]Row{
		{Name: "shows the VM some seconds late", At: SlowFull, Calls: calls{"create": 1}},
		{Name: "shows the VM some seconds late", At: SlowMinimal, Calls: calls{"create": 1}},
		{
			Name: "shows the VM some seconds late, and loses the answer", At: SlowFull, Faults: lost,
			Warns: warns{computev1.ReasonProviderError: 1}, Calls: calls{"create": 2},
		},
	}, func(r *Row) {
		r.Class, r.During, r.VMs = provider.NotFound, Creating, 1
		r.Shows = held(computev1.ReasonNotShown)
	})
}
