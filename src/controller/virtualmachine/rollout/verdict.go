package rollout

import "k8s.io/apimachinery/pkg/types"

// Verdict is what a pass says of the way to its provider.
type Verdict int

const (
	// Pending means that the pass could not ask yet, and that another one will.
	Pending Verdict = iota
	// Silent means that the pass had nothing to ask the provider, or that the answer
	// speaks of this one object alone.
	Silent
	// Well means that the pass was led to its VM.
	Well
	// Failed means that it was not.
	Failed
	// Vanished means that it was not, for the provider says for certain that there is
	// no such VM.
	Vanished
)

// verdicts is how many there are.
const verdicts = int(Vanished) + 1

// fates are how those that tried a way have fared so far, and how many how.
type fates struct {
	of    map[types.NamespacedName]Verdict
	count [verdicts]int
}

func (f *fates) has(vm types.NamespacedName) bool {
	_, known := f.of[vm]
	return known
}

func (f *fates) set(vm types.NamespacedName, verdict Verdict) {
	f.remove(vm)
	f.of[vm] = verdict
	f.count[verdict]++
}

func (f *fates) remove(vm types.NamespacedName) {
	if before, known := f.of[vm]; known {
		delete(f.of, vm)
		f.count[before]--
	}
}

// Trusted reports whether what the way does not show may be taken for gone, as far
// as others have seen more of it: not while only a few are led by it.
func (r *Rollout) Trusted() bool { return r.trusted }

// Lost reports whether those that tried the way have vanished, most of them and so
// many that the provider must have lost the others' VMs as well.
func (r *Rollout) Lost() bool {
	vanished := r.tried.count[Vanished]
	return vanished >= Few && 2*vanished > len(r.tried.of)
}

// led reports whether the way led more than half of a few to their VMs.
func (r *Rollout) led() bool {
	well := 0
	for vm := range r.few {
		if r.tried.of[vm] == Well {
			well++
		}
	}
	return 2*well > Few
}

// mostlyWell reports the same of all that had something to ask, where nobody is left
// to be let in.
func (r *Rollout) mostlyWell() bool {
	asked := len(r.tried.of) - r.tried.count[Silent]
	return asked == 0 || 2*r.tried.count[Well] > asked
}

func (r *Rollout) trust() {
	r.trusted, r.tried = true, fates{}
}
