package system

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/faults"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
)

// trial is one row of the table of faults, tried with a VirtualMachine and a
// ProviderConfig of its own. Both have one name. Others share the namespace, the
// operator and the provider.
type trial struct {
	*world
	row  faults.Row
	p    *mockprovider.Provider
	name string

	uid string
	// match is what faults and ledger tell the VM by.
	match string
	// date is when a pause ends that a date tells of.
	date time.Time
	// lines and calls are how many there were when the failure began.
	lines, calls int
}

// try goes through a row from its beginning to its end.
func (tr *trial) try(m *metronome) {
	tr.t.Helper()
	create(tr.t, builders.ProviderConfig(tr.namespace, tr.name, tr.p.URL(), func(config *computev1.ProviderConfig) {
		config.Spec.SecretRef = &computev1.SecretReference{Name: "credentials"}
		config.Spec.PollInterval = &metav1.Duration{Duration: beat}
		if tr.row.Timeout > 0 {
			config.Spec.Timeout = &metav1.Duration{Duration: tr.row.Timeout}
		}
	}))
	begin := tr.prepare()
	tr.lines = len(tr.told())
	tr.order(tr.row.Faults...)
	// A VM that runs is looked at all the time, until now without failure.
	tr.calls = len(tr.asked())
	begin()
	for _, want := range tr.row.Shows {
		tr.shows(want)
	}
	tr.warns()
	tr.paced(m)
	tr.end()
	tr.check()
	tr.tidy()
}

// shows waits until the object has a condition. While the VM cannot be read, Ready
// is of the generation that it was last seen under.
func (tr *trial) shows(want faults.Condition) {
	tr.t.Helper()
	vm := &computev1.VirtualMachine{ObjectMeta: tr.meta(tr.name)}
	operator.WaitFor(tr.t, fmt.Sprintf("%s=%s, %s on %s", want.Type, want.Status, want.Reason, tr.name), func(ctx context.Context) bool {
		if kube.Get(ctx, client.ObjectKeyFromObject(vm), vm) != nil {
			return false
		}
		got := meta.FindStatusCondition(vm.Status.Conditions, want.Type)
		return got != nil && got.Status == want.Status && got.Reason == want.Reason &&
			(want.Type == computev1.ConditionReady || got.ObservedGeneration == vm.Generation)
	})
}

// warns waits for the events that the failure itself leads to.
func (tr *trial) warns() {
	tr.t.Helper()
	for reason := range tr.row.Warns {
		if reason != retained {
			tr.warned(reason)
		}
	}
}

// warned waits until a warning is an event and, since the log comes through a pipe
// and can be behind, until the log has it.
func (tr *trial) warned(reason string) {
	tr.t.Helper()
	tr.world.told(vmKind, tr.name, corev1.EventTypeWarning, reason)
	operator.WaitFor(tr.t, "the log to say "+reason, func(context.Context) bool {
		return slices.Contains(tr.told()[tr.lines:], reason)
	})
}

// retained is the reason of the event about a VM that is left behind.
const retained = "Retained"

// prepare leads to where the row begins, and returns what begins it.
func (tr *trial) prepare() (begin func()) {
	tr.t.Helper()
	if tr.row.During == faults.Creating || tr.row.During == faults.Finding {
		return tr.prepareCreation()
	}
	tr.make()
	tr.match = tr.running(tr.name).Status.ID
	switch tr.row.During {
	case faults.Resizing:
		return func() { tr.size(4) }
	case faults.Deleting:
		return tr.delete
	default:
		return func() {}
	}
}

// prepareCreation makes an object that waits, so that its UID is known before its
// POST is sent.
func (tr *trial) prepareCreation() (begin func()) {
	tr.t.Helper()
	tr.make(func(vm *computev1.VirtualMachine) {
		vm.Annotations = map[string]string{computev1.PausedAnnotation: "true"}
	})
	tr.awaits(tr.name, condition{computev1.ConditionSynced, metav1.ConditionUnknown, computev1.ReasonPaused, nil})
	tr.match = tr.uid
	goOn := func() {
		tr.edit(func(vm *computev1.VirtualMachine) { delete(vm.Annotations, computev1.PausedAnnotation) })
	}
	if tr.row.During == faults.Creating {
		return goOn
	}
	tr.order(mockprovider.Fault{Operation: "create", When: "after", Drop: true, Count: -1})
	goOn()
	tr.warned(computev1.ReasonProviderError)
	return tr.delete
}

func (tr *trial) make(changes ...func(*computev1.VirtualMachine)) {
	tr.t.Helper()
	vm := builders.VirtualMachine(tr.namespace, tr.name, append(changes, func(vm *computev1.VirtualMachine) {
		vm.Spec.ProviderRef = &tr.name
	})...)
	create(tr.t, vm)
	tr.uid = string(vm.UID)
}

func (tr *trial) edit(edit func(*computev1.VirtualMachine)) {
	tr.t.Helper()
	change(tr.world, &computev1.VirtualMachine{ObjectMeta: tr.meta(tr.name)}, edit)
}

func (tr *trial) size(cpu int32) {
	tr.t.Helper()
	tr.edit(func(vm *computev1.VirtualMachine) { vm.Spec.CPU = cpu })
}

func (tr *trial) delete() {
	tr.t.Helper()
	if err := kube.Delete(tr.t.Context(), &computev1.VirtualMachine{ObjectMeta: tr.meta(tr.name)}); err != nil {
		tr.t.Fatal(err)
	}
}

// order adds faults, each about the trial's VM alone.
func (tr *trial) order(all ...mockprovider.Fault) {
	tr.t.Helper()
	for _, next := range all {
		next.Match = tr.match
		if next.RetryAfter == faults.Date {
			tr.date = time.Now().Add(tr.row.Pause).Truncate(time.Second)
			next.RetryAfter = tr.date.UTC().Format(http.TimeFormat)
		}
		fault(tr.t, tr.p, next)
	}
}

// lasting reports whether the failure does not end by itself.
func (tr *trial) lasting() bool {
	return slices.ContainsFunc(tr.row.Faults, func(f mockprovider.Fault) bool { return f.Count < 0 }) || tr.row.During == faults.Finding
}

func (tr *trial) clear() {
	tr.t.Helper()
	if err := tr.p.ClearFaultsOf(tr.t.Context(), tr.match); err != nil {
		tr.t.Fatal(err)
	}
}

// args are the mock provider's, by the kind of provider.
var args = map[faults.Kind][]string{
	faults.Full:        nil,
	faults.Minimal:     {"--minimal"},
	faults.ListOnly:    {"--capabilities=list"},
	faults.SlowFull:    {"--visible-after-seconds=5"},
	faults.SlowMinimal: {"--minimal", "--visible-after-seconds=5"},
}

func TestEveryFailureLeadsToWhatTheTableSays(t *testing.T) {
	t.Parallel()
	w := &world{t: t, namespace: namespace(t)}
	// A call that is not answered keeps a worker.
	w.start(loopback, "--max-concurrent-reconciles=virtualmachine=16")
	m := startMetronome(t, w.namespace)
	w.key(apiKey)
	providers := map[faults.Kind]*mockprovider.Provider{}
	for i, row := range faults.Table() {
		if providers[row.At] == nil {
			providers[row.At] = startProviderWith(t, mockprovider.Options{
				Args: append([]string{"--enable-faults", "--provision-seconds=0"}, args[row.At]...), APIKey: apiKey,
			})
		}
		t.Run(fmt.Sprintf("%s at %s: %s", row.During, row.At, row.Name), func(t *testing.T) {
			t.Parallel()
			own := *w
			own.t = t
			tr := &trial{world: &own, row: row, p: providers[row.At], name: fmt.Sprintf("row-%d", i+1)}
			t.Cleanup(tr.showTrial)
			tr.try(m)
		})
	}
}

func (tr *trial) showTrial() {
	if tr.t.Failed() {
		tr.t.Logf("the operator said of %s:\n%s", tr.name, strings.Join(tr.operator.Lines(`"`+tr.name+`"`), "\n"))
	}
}
