package main

import "fmt"

// judge says which counts are not what they should be.
func judge(s subject, m measurement) []string {
	var failures []string
	fail := func(format string, args ...any) {
		failures = append(failures, fmt.Sprintf("%d %s, ", m.Objects, m.Kind)+fmt.Sprintf(format, args...))
	}
	for i, p := range s.phases {
		most := map[string]int{}
		for _, w := range p.writes {
			most[w.call] = w.most
		}
		made := m.Phases[i].Writes
		for _, call := range made.calls() {
			if allowed := most[call] * m.Objects; made[call] > allowed {
				fail("%s: %d times %s, want %d at most", p.name, made[call], call, allowed)
			}
		}
	}
	for _, call := range m.Steady.Writes.calls() {
		fail("steady state: %d times %s, want none", m.Steady.Writes[call], call)
	}
	if m.Steady.RefusedWrites > 0 {
		fail("steady state: %d writes were refused, want none", m.Steady.RefusedWrites)
	}
	// Without looks, there was nothing that could have written.
	if least := steadyRounds * m.Objects; m.Steady.Passes < least {
		fail("steady state: %d looks, want %d at least", m.Steady.Passes, least)
	}
	return failures
}
