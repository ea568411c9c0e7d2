package system

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/mockprovider"
)

// Each of these goes the same way: what a user reads, that nothing is made or
// repeated in a hurry, and that all is well once the cause is gone.
func TestBadInput(t *testing.T) {
	tell(t, []story{
		{"a missing ProviderConfig", missingProviderConfig},
		{"a missing Secret", missingSecret},
		{"a Secret without the key", missingKey},
		{"a wrong key", wrongKey},
		{"an unreachable endpoint", unreachable},
		{"a web page for an answer", useless("html")},
		{"half of a JSON document", useless("malformed")},
		{"an answer that breaks off", useless("truncated")},
		{"an answer of more than 10 MB", useless("oversized")},
		{"a web page for a POST that cannot be repeated", uselessOnce},
		{"an id that is not safe in a path", unsafeID},
		{"an unknown phase", unknownPhase},
		{"a rejected image", rejectedImage},
	})
}

const (
	isFalse = metav1.ConditionFalse
	isTrue  = metav1.ConditionTrue
	vmKind  = "VirtualMachine"
	pcKind  = "ProviderConfig"
)

func nothing() map[string]int { return nil }

func missingProviderConfig(w *world, m *metronome) {
	p := startProvider(w.t)
	w.vm("web")
	want := condition{computev1.ConditionSynced, isFalse, computev1.ReasonProviderConfigNotFound, []string{"does not exist in this namespace", "create it"}}
	w.awaits("web", want)
	w.awaits("web", condition{computev1.ConditionReady, isFalse, want.reason, want.words})
	w.warned(vmKind, "web", want)
	w.staysCalm(m, nothing, nil, w.both()[0])

	w.working(p.URL())
	w.wantMachines(p, "web")
}

// notReady is what a VirtualMachine says while its ProviderConfig says something.
func (w *world) notReady(config condition) {
	w.t.Helper()
	w.providerAwaits(config)
	w.warned(pcKind, computev1.DefaultProviderConfig, config)
	vm := condition{computev1.ConditionSynced, isFalse, computev1.ReasonProviderNotReady, config.words}
	w.awaits("web", vm)
	w.warned(vmKind, "web", vm)
}

func stalled(reason string) condition {
	return condition{computev1.ConditionStalled, isTrue, reason, nil}
}

func missingSecret(w *world, m *metronome) {
	p := startProvider(w.t)
	w.provider(p.URL())
	w.vm("web")
	w.notReady(condition{computev1.ConditionReady, isFalse, computev1.ReasonSecretNotFound, []string{`Secret "credentials" does not exist`, "create it"}})
	w.providerAwaits(stalled(computev1.ReasonSecretNotFound))
	w.staysCalm(m, w.callsOf(p), nil, w.both()...)

	w.key(apiKey)
	w.wantMachines(p, "web")
}

func missingKey(w *world, m *metronome) {
	p := startProvider(w.t)
	w.secret(map[string]string{"password": apiKey})
	w.provider(p.URL())
	w.vm("web")
	w.notReady(condition{computev1.ConditionReady, isFalse, computev1.ReasonSecretInvalid, []string{`key "apiKey" of Secret "credentials"`, "correct it"}})
	w.providerAwaits(stalled(computev1.ReasonSecretInvalid))
	w.staysCalm(m, w.callsOf(p), nil, w.both()...)

	w.key(apiKey)
	w.wantMachines(p, "web")
}

func wrongKey(w *world, m *metronome) {
	p := startProvider(w.t)
	w.key(marker + "-wrong")
	w.provider(p.URL())
	w.vm("web")
	w.notReady(condition{computev1.ConditionReady, isFalse, computev1.ReasonUnauthorized, []string{"refuses the API key", `correct key "apiKey" of Secret "credentials"`}})
	w.providerAwaits(stalled(computev1.ReasonUnauthorized))
	w.staysCalm(m, w.callsOf(p), map[string]int{"capabilities": 1}, w.both()...)

	w.key(apiKey)
	w.wantMachines(p, "web")
}

func unreachable(w *world, m *metronome) {
	p := startProvider(w.t)
	w.working("http://127.0.0.1:1")
	w.vm("web")
	w.notReady(condition{computev1.ConditionReady, isFalse, computev1.ReasonUnreachable, []string{"no connection to http://127.0.0.1:1", "check spec.endpoint"}})
	w.staysCalm(m, nothing, nil, w.both()...)

	w.moveTo(p.URL())
	w.wantMachines(p, "web")
}

// useless tries answers that mean nothing: to the probe, to the POST that makes
// the VM, and to the GET that looks at it.
func useless(body string) func(*world, *metronome) {
	return func(w *world, m *metronome) {
		// Where there are lists, no settled VM is looked at by itself.
		p := startProvider(w.t, "--capabilities=idempotency,resize")
		fault(w.t, p, mockprovider.Fault{Operation: "capabilities", Body: body, Count: -1})
		w.working(p.URL())
		w.vm("web")
		w.notReady(condition{computev1.ConditionReady, isFalse, computev1.ReasonProtocol, []string{"answers, but not as a provider of VMs does", "check that spec.endpoint"}})
		w.staysCalm(m, w.callsOf(p), map[string]int{"capabilities": 2 * calmBeats}, w.both()...)

		// Between the one fault and the other, the provider is sound: no VM may be made then.
		w.paused("web", func() {
			clearFaults(w.t, p)
			fault(w.t, p, mockprovider.Fault{Operation: "create", When: "after", Body: body, Count: -1})
		})
		failed := condition{computev1.ConditionSynced, isFalse, computev1.ReasonProviderError, []string{"no clear answer", "asked again"}}
		w.awaits("web", failed)
		w.warned(vmKind, "web", failed)
		w.staysCalm(m, w.callsOf(p), map[string]int{"capabilities": 2 * calmBeats, "create": 2*calmBeats + calmPokes}, w.both()...)
		if got := machines(w.t, p); len(got) != 1 {
			w.t.Errorf("the repeated POST made the VMs %v", got)
		}

		clearFaults(w.t, p)
		before := w.running("web").Status.ID
		fault(w.t, p, mockprovider.Fault{Operation: "get", Body: body, Count: -1})
		failed.words = []string{"the provider failed", "repeated"}
		w.awaits("web", failed)
		w.warned(vmKind, "web", failed)
		w.awaits("web", condition{computev1.ConditionReady, isTrue, computev1.ReasonRunning, nil})
		w.staysCalm(m, w.callsOf(p), map[string]int{"capabilities": 2 * calmBeats, "get": 2*calmBeats + calmPokes}, w.both()...)

		clearFaults(w.t, p)
		if after := w.running("web").Status.ID; after != before {
			w.t.Errorf("the VM was %s and is %s", before, after)
		}
		w.wantMachines(p, "web")
	}
}

// uselessOnce: at a provider that cannot tell whether it made a VM, nobody
// guesses.
func uselessOnce(w *world, m *metronome) {
	p := startProvider(w.t, "--minimal")
	fault(w.t, p, mockprovider.Fault{Operation: "create", When: "after", Body: "html"})
	w.working(p.URL())
	w.vm("web")
	want := condition{computev1.ConditionStalled, isTrue, computev1.ReasonCreateAmbiguous, []string{"look there for it", computev1.TakeOverIDAnnotation}}
	w.awaits("web", want)
	w.warned(vmKind, "web", want)
	// It knows no /capabilities, by which it is probed.
	w.staysCalm(m, w.callsOf(p), map[string]int{"other": 2 * calmBeats}, w.both()...)

	change(w, &computev1.VirtualMachine{ObjectMeta: w.meta("web")}, func(vm *computev1.VirtualMachine) {
		metav1.SetMetaDataAnnotation(&vm.ObjectMeta, computev1.TakeOverIDAnnotation, machines(w.t, p)[0])
	})
	w.wantMachines(p, "web")
}

func rejectedImage(w *world, m *metronome) {
	p := startProvider(w.t, "--reject-image=windows-*")
	w.working(p.URL())
	w.vm("web", func(vm *computev1.VirtualMachine) { vm.Spec.Image = "windows-11" })
	want := condition{
		computev1.ConditionStalled, isTrue, computev1.ReasonRejected,
		[]string{"change the spec", "delete this VirtualMachine", "image windows-11 is not in the catalogue"},
	}
	w.awaits("web", want)
	w.awaits("web", condition{computev1.ConditionSynced, isFalse, want.reason, want.words})
	w.warned(vmKind, "web", want)
	w.staysCalm(m, w.callsOf(p), map[string]int{"capabilities": 2 * calmBeats}, w.both()...)

	// A change of the ProviderConfig may be the cure, and is worth one more try.
	w.changeProvider(func(config *computev1.ProviderConfig) { config.Spec.RateLimit = &computev1.ProviderRateLimit{QPS: 20} })
	awaitCalls(w.t, p, "create", 2)
	w.staysCalm(m, w.callsOf(p), map[string]int{"capabilities": 2 * calmBeats}, w.both()...)
	if got := machines(w.t, p); len(got) > 0 {
		w.t.Errorf("the provider has %v of a rejected image", got)
	}

	w.deleted("web")
	w.vm("web")
	w.wantMachines(p, "web")
}

// callsOf counts a provider's calls.
func (w *world) callsOf(p *mockprovider.Provider) func() map[string]int {
	return func() map[string]int { return calls(w.t, p) }
}

// Whoever runs the operator decides whether an endpoint may be on this machine.
func TestARefusedEndpointAddressIsNotDialled(t *testing.T) {
	t.Parallel()
	p := startProvider(t)
	w := &world{t: t, namespace: namespace(t)}
	w.showLog()
	w.start()
	w.working(p.URL())
	w.vm("web")
	w.notReady(condition{computev1.ConditionReady, isFalse, computev1.ReasonEndpointRefused, []string{p.URL(), "change spec.endpoint", "--allow-endpoint-cidrs"}})
	w.providerAwaits(stalled(computev1.ReasonEndpointRefused))
	for _, object := range append(w.both(), w.both()...) {
		w.poke(object)
	}
	if got := calls(t, p); len(got) > 0 {
		t.Errorf("the provider was called: %v", got)
	}

	w.operator.Terminate()
	w.operator.WantEnd()
	w.start(loopback)
	w.wantMachines(p, "web")
	w.told(pcKind, computev1.DefaultProviderConfig, corev1.EventTypeNormal, "Ready")
}
