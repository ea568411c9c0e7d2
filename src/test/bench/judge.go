package main

import "fmt"

// perSecond is how often something that does not come with each object may be done in
// a second, and atOnce how often at once.
const perSecond, atOnce = 2, 10

// judge says which counts are not what they should be.
func judge(s subject, m measurement) []string {
	j := &judgement{n: m.Objects, kind: m.Kind}
	for i, p := range s.phases {
		j.phase("", p, &m.Phases[i])
	}
	j.none("steady state", m.Steady.Writes, m.Steady.RefusedWrites)
	// Without looks, there was nothing that could have written.
	if least := steadyRounds * m.Objects; m.Steady.Passes < least {
		j.fail("steady state: %d looks, want %d at least", m.Steady.Passes, least)
	}
	return j.failures
}

// judgement gathers what is not as it should be.
type judgement struct {
	n        int
	kind     string
	failures []string
}

func (j *judgement) fail(format string, args ...any) {
	j.failures = append(j.failures, fmt.Sprintf("%d %s, ", j.n, j.kind)+fmt.Sprintf(format, args...))
}

// phase holds what was made in a phase against what may be.
func (j *judgement) phase(prefix string, p phase, t *timed) {
	most := counts{}
	for _, w := range p.writes {
		most[w.call] = w.most * j.n
	}
	for _, call := range p.besides {
		most[call] = atOnce + int(perSecond*t.Seconds)
	}
	made := t.made()
	for _, call := range made.calls() {
		if made[call] > most[call] {
			j.fail("%s%s: %d times %s, want %d at most", prefix, p.name, made[call], call, most[call])
		}
	}
}

// none wants no write, be it refused.
func (j *judgement) none(when string, writes counts, refused int) {
	for _, call := range writes.calls() {
		j.fail("%s: %d times %s, want none", when, writes[call], call)
	}
	if refused > 0 {
		j.fail("%s: %d writes were refused, want none", when, refused)
	}
}

// calls wants no more calls to the provider than this.
func (j *judgement) calls(when string, made counts, most int) {
	if total := made.total(); total > most {
		j.fail("%s: %d calls to the provider (%s), want %d at most", when, total, made, most)
	}
}
