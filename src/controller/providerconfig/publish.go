package providerconfig

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider/registry"
)

// publish tells the registry what may be done with the provider.
func (r *Reconciler) publish(p *pass, state decide.State, decision decide.Decision, next computev1.ProviderConfigStatus) {
	known := r.Registry.Get(p.key())
	if entry, changes := nextEntry(p, state, decision, next, known); changes {
		r.Registry.Set(p.key(), entry)
	}
	r.retire(p)
}

// nextEntry is pure. It reports false where the entry stays as it is.
func nextEntry(
	p *pass, state decide.State, decision decide.Decision, next computev1.ProviderConfigStatus, known registry.Entry,
) (registry.Entry, bool) {
	entry := registry.Entry{
		Capabilities: p.memory.capabilities,
		Identities:   identities(next),
		UID:          p.config.UID,
		PollInterval: pollInterval(p.config),
		Timeout:      timeout(p.config),
	}
	if next.ReleasedAt != nil {
		entry.ReleasedAt = next.ReleasedAt.Time
	}
	if ready := meta.FindStatusCondition(next.Conditions, computev1.ConditionReady); ready != nil && decision.Action != decide.Serve {
		entry.Reason, entry.Message = ready.Reason, ready.Message
	}
	switch decision.Action {
	case decide.Serve:
		entry.State, entry.Client = open(state), p.memory.way.client
	case decide.Hold:
		entry.State, entry.Client = registry.Held, p.memory.way.client
	case decide.Keep:
		return kept(p, state, known)
	case decide.Retry, decide.Stall:
		entry.State = registry.NotReady
	case decide.AddFinalizer, decide.Rest, decide.MarkSecrets, decide.UnmarkSecrets, decide.Latch, decide.ReleaseMassDisappearance,
		decide.RunProbe, decide.AcceptIdentity, decide.AcceptCapabilities, decide.RemoveFinalizer, decide.Gone:
		return registry.Entry{}, false
	}
	return entry, true
}

// open is the state of a provider that may be used, if the object is kept.
func open(state decide.State) registry.State {
	if state.InUse() {
		return registry.Ready
	}
	return registry.Idle
}

// kept is the entry of a provider that cannot be probed for a moment: the verdict
// stands, but not for what has changed beside it. It reports false where nothing has.
func kept(p *pass, state decide.State, known registry.Entry) (registry.Entry, bool) {
	switch {
	case known.State != registry.Ready && known.State != registry.Idle:
		return registry.Entry{}, false
	case state.Latched():
		// What the provider said before must not make the fleet anew.
		known.State = registry.Held
		known.Reason, known.Message = computev1.ReasonMassDisappearance, message(p, computev1.ReasonMassDisappearance)
		return known, true
	}
	changes := known.State != open(state)
	known.State = open(state)
	return known, changes
}

// retire closes the clients that were replaced, once the registry does not hand
// them out any more.
func (r *Reconciler) retire(p *pass) {
	m := p.memory
	current := r.Registry.Get(p.key()).Client
	var kept []*way
	for _, old := range m.retired {
		if old.client == current {
			kept = append(kept, old)
			continue
		}
		old.close()
	}
	m.retired = kept
}

// forget drops all that is known of a ProviderConfig that is gone.
func (r *Reconciler) forget(key types.NamespacedName) {
	r.Registry.Forget(key)
	for _, way := range r.memories.forget(key).ways() {
		way.close()
	}
	if r.Gauges != nil {
		r.Gauges.DeleteProviderConfig(key.Namespace, key.Name)
	}
}
