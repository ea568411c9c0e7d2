package crash

import "fmt"

// Mode is a way to disturb an effect.
type Mode string

// The modes.
const (
	// KilledBefore kills the operator before the effect, which then never comes, and
	// starts it again. A kill after an effect is the kill before the next one.
	KilledBefore Mode = "killed-before"
	// AnswerLost lets the effect happen and cuts the connection: the operator lives
	// on and knows nothing.
	AnswerLost Mode = "answer-lost"
	// Late kills the operator and lets the effect happen all the same, once its
	// successor has looked and found nothing: a POST that was under way.
	Late Mode = "late"
	// Refused has the apiserver answer that it cannot, and the effect does not come:
	// the operator lives on.
	Refused Mode = "refused"
)

// Point is one disturbance to try.
type Point struct {
	Effect Effect
	Mode   Mode
	// Abandoned has the user delete the object while it waits for a person's word,
	// which is given after that.
	Abandoned bool
}

// Name names the point in a test's name.
func (p Point) Name() string {
	name := fmt.Sprintf("%s.%s", p.Mode, p.Effect.Name())
	if p.Abandoned {
		name += ".deleted-while-it-waits"
	}
	return name
}

// Kind is a kind of provider.
type Kind string

// The kinds.
const (
	// Full offers all that the contract knows.
	Full Kind = "full"
	// Minimal has three endpoints: it cannot tell whether a POST made a VM.
	Minimal Kind = "minimal"
	// None is no provider: the story is of workloads in the cluster.
	None Kind = "none"
)

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Full, Minimal, None} }

// Plan is what to try of the effects of an undisturbed run. Whatever is done to a
// POST at a minimal provider ends in a question to a person; abandonable says that
// the object may be deleted while it is open. A status that was refused is written
// by the next look, like one whose answer was lost: it is not tried twice.
func Plan(effects []Effect, kind Kind, abandonable bool) []Point {
	var points []Point
	for _, effect := range effects {
		modes := []Mode{KilledBefore, AnswerLost}
		if effect.Creates() {
			modes = append(modes, Late)
		}
		if kind == None && !effect.Tells() {
			modes = append(modes, Refused)
		}
		for _, mode := range modes {
			points = append(points, Point{Effect: effect, Mode: mode})
			if effect.Creates() && kind == Minimal && abandonable {
				points = append(points, Point{Effect: effect, Mode: mode, Abandoned: true})
			}
		}
	}
	return points
}
