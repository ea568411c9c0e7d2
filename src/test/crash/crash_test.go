package crash

import (
	"errors"
	"os"
	"testing"
)

// The points of a scenario are tried side by side, each in a namespace of its own
// with an operator and a provider of its own.
func TestEveryCrashPoint(t *testing.T) {
	report := &Report{}
	names := make([]string, 0, len(scenarios()))
	t.Run("of", func(t *testing.T) {
		for _, s := range scenarios() {
			names = append(names, s.name)
			if !*everything && !s.smoke {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				for _, kind := range s.kinds() {
					t.Run(string(kind), func(t *testing.T) {
						t.Parallel()
						tryAll(t, report, s, kind)
					})
				}
			})
		}
	})
	if err := report.Write(os.Stdout, names); err != nil {
		t.Error(err)
	}
}

// tryAll runs a scenario undisturbed, and then once for each point.
func tryAll(t *testing.T, report *Report, s scenario, kind Kind) {
	t.Helper()
	undisturbed := newWorld(t, s, kind, nil, executable)
	reference := undisturbed.run(s, nil)
	if reference.err != nil {
		t.Fatalf("the undisturbed run: %v\n%s", reference.err, undisturbed.describe())
	}
	undisturbed.operator.Kill()
	report.Recorded(s.name, kind, len(reference.effects))
	for _, point := range Plan(reference.effects, kind, s.abandonable) {
		t.Run(point.Name(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, kind, &point, executable)
			got := w.run(s, reference.end)
			w.operator.Kill()
			result := Result{Scenario: s.name, Kind: kind, Point: point.Name(), Reached: got.reached, Harm: harmOf(got.err)}
			report.Tried(result)
			if got.err != nil {
				t.Errorf("%s, %s, %s: %v\nalone: go test -C src/test/crash -crash.all -run '^%s$'\n%s",
					s.name, kind, point.Name(), got.err, t.Name(), w.describe())
			}
		})
	}
}

// harmOf is what an error says; whatever else keeps a run from its end has it stuck.
func harmOf(err error) Harm {
	if err == nil {
		return ""
	}
	if found, is := errors.AsType[*harmed](err); is {
		return found.harm
	}
	return Stuck
}
