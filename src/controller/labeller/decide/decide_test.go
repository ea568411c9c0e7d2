package decide

import "testing"

func TestDecisions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state State
		want  Action
	}{
		"a Deployment without the label gets it":               {State{true, true, Missing, true}, SetLabel},
		"another value is overwritten":                         {State{true, true, Other, true}, SetLabel},
		"a Deployment with the label is left alone":            {State{true, true, Right, true}, None},
		"a Deployment that is not selected is left alone":      {State{true, false, Missing, true}, None},
		"a Deployment that is being deleted is left alone":     {State{false, true, Missing, true}, None},
		"a contended label is set when its time comes":         {State{true, true, Other, false}, Wait},
		"what is not wrong is not waited for":                  {State{true, true, Right, false}, None},
		"a contended label of one not selected is nobody's":    {State{true, false, Other, false}, None},
		"a contended label of one being deleted is left alone": {State{false, true, Other, false}, None},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(test.state); got != test.want {
				t.Errorf("Decide(%+v) = %s, want %s", test.state, got, test.want)
			}
		})
	}
}

// Whatever is seen, a label is written only where it differs, on a Deployment that
// is selected and stays; and once it is written there is nothing left to do.
func TestNoStateBreaksAnInvariant(t *testing.T) {
	t.Parallel()
	tried := map[Action]int{}
	for _, live := range []bool{false, true} {
		for _, selected := range []bool{false, true} {
			for label := range labels {
				for _, rested := range []bool{false, true} {
					s := State{live, selected, label, rested}
					action := Decide(s)
					tried[action]++
					if action != None && (!live || !selected || label == Right) {
						t.Errorf("Decide(%+v) = %s", s, action)
					}
					if action == SetLabel && !rested {
						t.Errorf("Decide(%+v) goes to war", s)
					}
					waited := s
					waited.Rested = true
					if action == Wait && Decide(waited) != SetLabel {
						t.Errorf("Decide(%+v) waits for nothing", s)
					}
					labelled := s
					labelled.Label = Right
					if again := Decide(labelled); again != None {
						t.Errorf("Decide(%+v) = %s, and then %s", s, action, again)
					}
				}
			}
		}
	}
	if len(tried) != int(actions) {
		t.Errorf("of %d actions there are only %v", actions, tried)
	}
}
