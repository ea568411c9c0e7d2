package decide

import "testing"

func TestDecisions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state State
		want  Action
	}{
		"a binding that nothing needs is left alone":             {State{Live, false, NotNeeded}, None},
		"a binding that is needed is kept":                       {State{Live, false, Needed}, AddFinalizer},
		"a binding that is kept is left alone":                   {State{Live, true, Needed}, None},
		"a binding that is not needed any more is let go":        {State{Live, true, NotNeeded}, RemoveFinalizer},
		"a binding that is being deleted stays while needed":     {State{Deleting, true, Needed}, None},
		"a binding that is being deleted goes when not needed":   {State{Deleting, true, NotNeeded}, RemoveFinalizer},
		"a finalizer cannot be added to what is being deleted":   {State{Deleting, false, Needed}, None},
		"nothing is done on the word of the cache alone":         {State{Live, true, Unknown}, None},
		"a binding that is missing is no reason to do something": {State{Missing, false, Needed}, None},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(test.state); got != test.want {
				t.Errorf("Decide(%+v) = %s, want %s", test.state, got, test.want)
			}
		})
	}
}

// Whatever is seen, the rights go only when nothing needs them, and what the
// action leads to needs no other one.
func TestNoStateBreaksAnInvariant(t *testing.T) {
	t.Parallel()
	for binding := range bindings {
		for need := range needs {
			for _, finalizer := range []bool{false, true} {
				s := State{binding, finalizer, need}
				action := Decide(s)
				if action == RemoveFinalizer && need != NotNeeded {
					t.Errorf("Decide(%+v) takes the rights away", s)
				}
				after := s
				switch action {
				case AddFinalizer:
					after.Finalizer = true
				case RemoveFinalizer:
					after.Finalizer = false
				case None:
				}
				if again := Decide(after); again != None {
					t.Errorf("Decide(%+v) = %s, and then %s", s, action, again)
				}
			}
		}
	}
}
