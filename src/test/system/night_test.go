package system

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
)

// What docs/runbooks.md says of the night, command by command.
func TestAtNight(t *testing.T) {
	tell(t, []story{
		{"VMs that a provider denies are found again", deniedFleet},
		{"VMs that are gone are made again, once", lostFleet},
		{"another provider answers, and the old one comes back", undoneMove},
		{"another provider answers, and is taken for the old one", releasedMove},
		{"a provider that asks for a pause gets one, from all", pausedProvider},
	})
}

// runs types the one command of the runbooks that has all parts.
func (w *world) runs(parts ...string) {
	w.t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "runbooks.md"))
	if err != nil {
		w.t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(page)) {
		command, isCommand := strings.CutPrefix(strings.TrimSpace(line), "$ kubectl ")
		if isCommand && hasAll(command, parts) {
			found = append(found, command)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("the runbooks have the commands %q with %q, want one", found, parts)
	}
	args := append([]string{
		"--kubeconfig", operator.Kubeconfig(w.t, plane.Config), "--cache-dir", w.t.TempDir(), "--namespace", w.namespace,
	}, strings.Fields(found[0])...)
	if out, err := exec.CommandContext(w.t.Context(), plane.Kubectl(), args...).CombinedOutput(); err != nil {
		w.t.Fatalf("kubectl %s: %v: %s", found[0], err, out)
	}
}

// calmInterval is long enough for all VMs of a provider to be looked at before the
// first that vanished would be made again, on a slow machine as well.
const calmInterval = 20 * time.Second

// fleet makes a ProviderConfig and VMs that run, and returns their ids.
func (w *world) fleet(p *mockprovider.Provider, names ...string) map[string]string {
	w.t.Helper()
	w.working(p.URL())
	w.changeProvider(func(config *computev1.ProviderConfig) {
		config.Spec.PollInterval = &metav1.Duration{Duration: calmInterval}
	})
	ids := map[string]string{}
	for _, name := range names {
		w.vm(name)
	}
	for _, name := range names {
		ids[name] = w.running(name).Status.ID
	}
	return ids
}

// looksAtAll makes the operator look at all VMs of the provider at once, as after
// every change of a ProviderConfig.
func (w *world) looksAtAll() {
	w.t.Helper()
	w.changeProvider(func(config *computev1.ProviderConfig) { config.Spec.RateLimit = &computev1.ProviderRateLimit{QPS: 50} })
}

// held waits until the ProviderConfig is held, and says so once.
func (w *world) held(reason string, words ...string) {
	w.t.Helper()
	want := condition{computev1.ConditionStalled, isTrue, reason, words}
	w.providerAwaits(want)
	w.providerAwaits(condition{computev1.ConditionReady, isFalse, reason, words})
	w.warned(pcKind, computev1.DefaultProviderConfig, want)
	count := 0
	for _, e := range w.events(w.t.Context(), pcKind, computev1.DefaultProviderConfig) {
		if e.Reason == reason {
			count++
			if e.Series != nil {
				count = int(e.Series.Count)
			}
		}
	}
	if count != 1 {
		w.t.Errorf("%s was told %d times", reason, count)
	}
}

// waiting fails unless objects wait for the ProviderConfig, the new one and the
// deleted one with the others.
func (w *world) waiting(made, deleted string, others ...string) {
	w.t.Helper()
	w.vm(made)
	if err := kube.Delete(w.t.Context(), &computev1.VirtualMachine{ObjectMeta: w.meta(deleted)}); err != nil {
		w.t.Fatal(err)
	}
	for _, name := range append(others, made, deleted) {
		vm := w.awaits(name, condition{computev1.ConditionSynced, isFalse, computev1.ReasonProviderHeld, nil})
		if name != made && !slices.Contains(vm.Finalizers, computev1.VirtualMachineFinalizer) {
			w.t.Errorf("%s lost its finalizer", name)
		}
	}
}

// wantUnharmed fails unless a VM of another ProviderConfig is made meanwhile.
func (w *world) wantUnharmed() {
	w.t.Helper()
	other := startProvider(w.t)
	const name = "other"
	create(w.t, builders.ProviderConfig(w.namespace, name, other.URL(), func(config *computev1.ProviderConfig) {
		config.Spec.SecretRef = &computev1.SecretReference{Name: "credentials"}
	}))
	w.vm(name, func(vm *computev1.VirtualMachine) { vm.Spec.ProviderRef = new(name) })
	w.wantMachines(other, name)
}

// released runs the command that releases a reason, and waits until it has.
func (w *world) released(reason string) {
	w.t.Helper()
	w.runs(computev1.ReleaseAnnotation + "=" + reason)
	w.told(pcKind, computev1.DefaultProviderConfig, corev1.EventTypeNormal, "Released", reason)
	config := &computev1.ProviderConfig{ObjectMeta: w.meta(computev1.DefaultProviderConfig)}
	operator.WaitFor(w.t, "the annotation to go", func(ctx context.Context) bool {
		return kube.Get(ctx, client.ObjectKeyFromObject(config), config) == nil && config.Annotations[computev1.ReleaseAnnotation] == ""
	})
}

// wantEffects fails unless a provider was changed so often by the operator.
func (w *world) wantEffects(p *mockprovider.Provider, creates, deletes int) {
	w.t.Helper()
	count := map[string]int{}
	for _, request := range requests(w.t, p) {
		if request.RequestID != mockprovider.RequestIDOfPerson {
			count[request.Operation]++
		}
	}
	if count["create"] != creates || count["delete"] != deletes || count["resize"] != 0 {
		w.t.Errorf("calls %v, want %d of create and %d of delete", count, creates, deletes)
	}
}

var fleetOfFive = []string{"web-1", "web-2", "web-3", "web-4", "web-5"}

// deniedFleet: the provider answers 404 for VMs that run.
func deniedFleet(w *world, _ *metronome) {
	// It has no lists: one that shows the VMs would be believed.
	p := startProvider(w.t, "--capabilities=idempotency,owner,resize")
	ids := w.fleet(p, fleetOfFive...)
	fault(w.t, p, mockprovider.Fault{Operation: "get", Status: 404, Count: -1})
	w.looksAtAll()
	w.held(computev1.ReasonMassDisappearance, "5 of 5", computev1.ReleaseAnnotation)
	w.waiting("new", "web-5", fleetOfFive[:4]...)
	w.wantUnharmed()
	w.wantEffects(p, len(fleetOfFive), 0)

	clearFaults(w.t, p)
	w.providerAwaits(stalled(computev1.ReasonMassDisappearance))
	w.released(computev1.ReasonMassDisappearance)
	for _, name := range fleetOfFive[:4] {
		if after := w.running(name).Status.ID; after != ids[name] {
			w.t.Errorf("%s was %s and is %s", name, ids[name], after)
		}
	}
	w.awaitsGone("web-5")
	w.wantMachines(p, append([]string{"new"}, fleetOfFive[:4]...)...)
	w.wantEffects(p, len(fleetOfFive)+1, 1)
}

// lostFleet: the VMs were deleted at the provider.
func lostFleet(w *world, _ *metronome) {
	p := startProvider(w.t)
	ids := w.fleet(p, fleetOfFive...)
	for _, id := range ids {
		if err := p.Remove(w.t.Context(), id); err != nil {
			w.t.Fatal(err)
		}
	}
	w.looksAtAll()
	w.held(computev1.ReasonMassDisappearance, "5 of 5")
	w.waiting("new", "web-5", fleetOfFive[:4]...)
	w.wantEffects(p, len(fleetOfFive), 0)

	w.released(computev1.ReasonMassDisappearance)
	w.awaitsGone("web-5")
	w.wantMachines(p, append([]string{"new"}, fleetOfFive[:4]...)...)
	w.wantEffects(p, 2*len(fleetOfFive), 0)
}

// undoneMove: the endpoint leads to another installation, and back.
func undoneMove(w *world, _ *metronome) {
	old, other := startProvider(w.t, "--identity=cloud-a"), startProvider(w.t, "--identity=cloud-b")
	ids := w.fleet(old, "web-1", "web-2")
	w.moveTo(other.URL())
	w.held(computev1.ReasonIdentityChanged, "cloud-a", "cloud-b", computev1.ReleaseAnnotation)
	w.waiting("new", "web-2", "web-1")
	w.wantUnharmed()
	w.wantEffects(old, 2, 0)

	w.moveTo(old.URL())
	w.awaitsGone("web-2")
	w.wantMachines(old, "web-1", "new")
	if after := w.running("web-1").Status.ID; after != ids["web-1"] {
		w.t.Errorf("web-1 was %s and is %s", ids["web-1"], after)
	}
	w.wantEffects(old, 3, 1)
	w.wantEffects(other, 0, 0)
}

// releasedMove: a person takes the other installation for the old one. That its VMs
// are not there is then a mass disappearance, and asks once more.
func releasedMove(w *world, _ *metronome) {
	old, other := startProvider(w.t, "--identity=cloud-a"), startProvider(w.t, "--identity=cloud-b")
	w.fleet(old, "web-1", "web-2")
	w.moveTo(other.URL())
	w.held(computev1.ReasonIdentityChanged)
	w.released(computev1.ReasonIdentityChanged)
	w.held(computev1.ReasonMassDisappearance, "2 of 2")
	w.wantEffects(other, 0, 0)

	w.released(computev1.ReasonMassDisappearance)
	w.wantMachines(other, "web-1", "web-2")
	w.wantEffects(other, 2, 0)
	w.wantEffects(old, 2, 0)
}

// pausedProvider: one call is answered with 429, and nobody calls until its pause
// is over, the probe included.
func pausedProvider(w *world, _ *metronome) {
	const pause, callers = 8 * time.Second, 4
	p := startProvider(w.t)
	w.working(p.URL())
	for _, name := range fleetOfFive[:callers-1] {
		w.vm(name)
	}
	for _, name := range fleetOfFive[:callers-1] {
		w.running(name)
	}
	fault(w.t, p, mockprovider.Fault{Operation: "list", Status: 429, RetryAfter: fmt.Sprint(pause.Seconds())})
	var during []mockprovider.Request
	awaitRequests(w.t, p, "the end of the pause", func(all []mockprovider.Request) bool {
		asked := slices.IndexFunc(all, func(r mockprovider.Request) bool { return r.Status == 429 })
		if asked < 0 {
			return false
		}
		over := all[asked].Time.Add(pause - slack)
		during = slices.DeleteFunc(slices.Clone(all[asked+1:]), func(r mockprovider.Request) bool { return !r.Time.Before(over) })
		return all[len(all)-1].Time.After(over)
	})
	// Each of the others may have been about to call. Without a pause, each would have
	// called once a second.
	if most := callers - 1; len(during) > most {
		w.t.Errorf("%d calls in a pause of %s, want at most %d", len(during), pause, most)
	}
	w.wantMachines(p, fleetOfFive[:callers-1]...)
}
