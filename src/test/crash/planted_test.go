package crash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plant is a fault in the operator that the harness must find: a mistake that
// somebody has made in another operator.
type plant struct {
	name string
	// changes are made to the operator's source before it is built. Each replaced text
	// must occur once, so that none is forgotten when the source changes.
	changes []change
	// scenario and kind are where the fault shows, at one of the points that shows
	// picks, or without any disturbance.
	scenario string
	kind     Kind
	shows    func(Point) bool
	// harm is what it does.
	harm Harm
}

// change replaces a text in a file of src/controller.
type change struct{ file, old, new string }

// unstored are the points at which a VM is made and its id is not stored.
func unstored(p Point) bool {
	return p.Mode == KilledBefore && p.Effect.Object == "virtualmachines/web/status"
}

func plants() []plant {
	return []plant{
		{
			name: "the finalizer comes after the POST",
			changes: []change{
				{
					"virtualmachine/act.go", "r.writeMetadata(ctx, p, addFinalizer(record), clearSpentConfirmation(record))",
					"r.writeMetadata(ctx, p, setRecord(record), clearSpentConfirmation(record))",
				},
				{"virtualmachine/decide/decide.go", "s.Intent == IntentFresh && s.Finalizer && ", "s.Intent == IntentFresh && "},
			},
			scenario: "create", kind: Full, harm: Leaked,
		},
		{
			name: "the key is not stored",
			changes: []change{{
				"virtualmachine/act.go", "if err := r.writeMetadata(ctx, p, addFinalizer(record), clearSpentConfirmation(record)); err != nil {\n\t\treturn err\n\t}\n",
				`if err := r.writeMetadata(ctx, p, addFinalizer(record), func(vm *computev1.VirtualMachine) {
					delete(vm.Annotations, computev1.CreateIntentAnnotation)
				}); err != nil {
					return err
				}
				setRecord(record)(p.vm)
				`,
			}},
			scenario: "create", kind: Minimal, shows: unstored, harm: Duplicated,
		},
		{
			name: "the key is made anew each time",
			changes: []change{{
				"virtualmachine/act.go", "\t\treturn next\n\tdefault:\n\t\treturn p.record\n",
				"\t\treturn next\n\tdefault:\n\t\treturn intent.New(p.vm, p.record.Ordinal()+1, identity(p.provider), r.request(p))\n",
			}},
			scenario: "create", kind: Full, shows: unstored, harm: Duplicated,
		},
		{
			name: "a stale id is trusted",
			changes: []change{{
				"virtualmachine/pass.go", `p.record.Replaces != "" && p.record.Replaces == id`,
				`p.record.Replaces != "" && p.record.Replaces == id && p.fresh`,
			}},
			scenario: "vanished", kind: Full, shows: unstored, harm: Duplicated,
		},
		{
			name: "the finalizer goes before the 404",
			changes: []change{{
				"virtualmachine/decide/decide.go", `Decision{Wait, computev1.ReasonDeleting, "the provider is deleting the VM", Soon}`,
				`Decision{RemoveFinalizer, computev1.ReasonDeleting, "the provider is deleting the VM", Never}`,
			}},
			scenario: "delete", kind: Full, harm: Leaked,
		},
		{
			name: "the number of replicas is left out before another owns it",
			changes: []change{{
				"myapp/act.go", "if err := r.handReplicasOver(ctx, p); err != nil {\n\t\t\treturn err\n\t\t}", "p.seen.other = \"\"",
			}},
			scenario: "myapp-taken-over", kind: None, harm: Unasked,
		},
		{
			name: "the number of replicas is set before the HorizontalPodAutoscaler is gone",
			changes: []change{{
				"appautoscaler/decide/decide.go", "\t\ttakingBack,\n\t\trefusal,\n\t\texistence,\n\t\tdrift,\n",
				"\t\trefusal,\n\t\texistence,\n\t\tdrift,\n\t\ttakingBack,\n",
			}},
			scenario: "autoscaler-taken-back", kind: None, harm: Unasked,
		},
	}
}

// Without -crash.all, only that the faults can still be planted.
func TestEachPlantedFaultTurnsTheHarnessRed(t *testing.T) {
	for _, planted := range plants() {
		t.Run(planted.name, func(t *testing.T) {
			t.Parallel()
			changed := overlay(t, planted.changes)
			if !*everything {
				return
			}
			faulty := filepath.Join(buildDir, strings.ReplaceAll(planted.name, " ", "-"))
			if err := build(t.Context(), faulty, "-overlay="+changed); err != nil {
				t.Fatal(err)
			}
			if found := hunt(t, planted, faulty); found != planted.harm {
				t.Errorf("the harness found %q, want %q", found, planted.harm)
			}
		})
	}
}

// hunt runs the points at which a fault shows until one is red.
func hunt(t *testing.T, planted plant, faulty string) Harm {
	t.Helper()
	index := slices.IndexFunc(scenarios(), func(s scenario) bool { return s.name == planted.scenario })
	s := scenarios()[index]
	w := newWorld(t, s, planted.kind, nil, faulty)
	reference := w.run(s, nil)
	w.operator.Kill()
	if reference.err != nil {
		return harmOf(reference.err)
	}
	for _, point := range Plan(reference.effects, planted.kind, false) {
		if planted.shows == nil || !planted.shows(point) {
			continue
		}
		w := newWorld(t, s, planted.kind, &point, faulty)
		got := w.run(s, reference.end)
		w.operator.Kill()
		if got.err != nil {
			t.Logf("%s: %v", point.Name(), got.err)
			return harmOf(got.err)
		}
	}
	t.Log(w.describe())
	return ""
}

// overlay writes changed sources aside, and the file that has the compiler take
// them for the originals: the operator itself needs no hook for faults.
func overlay(t *testing.T, changes []change) string {
	t.Helper()
	folder, err := filepath.Abs(root + "/src/controller")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, change := range changes {
		path := filepath.Join(folder, change.file)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if count := strings.Count(string(content), change.old); count != 1 {
			t.Fatalf("%s has this %d times, so that the fault cannot be planted; adapt it to the source:\n%s", change.file, count, change.old)
		}
		replace[path] = filepath.Join(t.TempDir(), filepath.Base(change.file))
		changed := strings.Replace(string(content), change.old, change.new, 1)
		if err := os.WriteFile(replace[path], []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
