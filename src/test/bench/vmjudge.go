package main

import "math"

const (
	// pageSize is how many VMs a list has on a page.
	pageSize = 500
	// earliest is how early the list of a poll interval may come, as a part of it.
	earliest = 0.9
	// lifeCalls is how many calls a VM may cost from its creation until it is gone.
	lifeCalls = 3.2
	// fewVMs are those that a change of the ProviderConfig is tried with before all
	// others.
	fewVMs = 5
)

// judgeVMs says which of the operator's counts are not what they should be. The other
// operators are as they are.
func judgeVMs(m vmMeasurement) []string {
	us := m.of(ourName)
	j := &judgement{n: m.Objects, kind: vmKind}
	none := &virtualMachines{}
	j.phase("", none.creation(), &us.Create)
	j.phase("", none.deletion(), &us.Delete)
	pages := pagesOf(m.Objects)
	if s := us.Steady; s != nil {
		j.none("steady state", s.Writes, s.RefusedWrites)
		// Jitter may put one list more into the time. Each interval, the ProviderConfig is
		// probed as well.
		lists := int(s.Seconds/(s.IntervalSeconds*earliest)) + 1
		j.calls("steady state", s.Calls, lists*(pages+1))
	}
	if r := us.Restart; r != nil {
		j.none("restart", r.Writes.except(besides()...), r.RefusedWrites)
		// A list, a probe, and one call more.
		j.calls("restart", r.Calls, pages+2+r.regular(pages))
	}
	if c := us.Change; c != nil {
		j.none("change of the ProviderConfig", c.Writes.except(besides()...), c.RefusedWrites)
		// A list, another if its interval ends now, probes, and the few.
		j.calls("change of the ProviderConfig", c.Calls, 2*pages+2+fewVMs+c.regular(pages))
	}
	if l := us.Life; l != nil {
		j.phase("slow provider, ", slowCreation(none.creation()), &l.Create)
		j.calls("slow provider, life", l.Calls, int(math.Ceil(lifeCalls*float64(m.Objects)))+atOnce+2*pages)
	}
	return j.failures
}

// regular are the lists and probes that come with each interval, for as long as it was
// counted.
func (r *reached) regular(pages int) int {
	if r.IntervalSeconds == 0 {
		return 0
	}
	return int(r.CountedSeconds/(r.IntervalSeconds*earliest)) * (pages + 1)
}

// slowCreation allows what comes with a VM that takes its time: that it is being made
// is a status of its own, and its EndpointSlice tells at first that it is not ready.
// How often it is looked at is bounded for the whole life.
func slowCreation(p phase) phase {
	for i := range p.writes {
		if call := p.writes[i].call; call == patchVMStatus || call == createEvent {
			p.writes[i].most++
		}
	}
	p.writes = append(p.writes, write{call: "update endpointslices", most: 1})
	p.besides = append(p.besides, callGet)
	return p
}

// pagesOf is how many pages a list of so many VMs has.
func pagesOf(n int) int { return (n + pageSize - 1) / pageSize }
