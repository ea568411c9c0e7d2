package providerconfig

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
)

// pass is what one Reconcile knows. It carries forward what its own steps
// change, so that later steps see what earlier ones did.
type pass struct {
	// config is the object, as the apiserver last returned it.
	config *computev1.ProviderConfig
	// status is what the pass makes of config.Status; stored once, at the end.
	status computev1.ProviderConfigStatus
	// memory is what the process remembers of the object.
	memory *memory
	// now is when the pass began.
	now time.Time
	// declared stands for the settings that a client is built from.
	declared fingerprint
	// due: the time for a new probe has come.
	due bool
	// probed: this pass has made it.
	probed bool

	// virtualMachines are those that refer to the object. They belong to the cache:
	// read only.
	virtualMachines []computev1.VirtualMachine
	// users says whether there are any, seen live where the cache has none.
	users decide.Users
	// credentials are what the referenced Secrets hold.
	credentials credentials
	// strays are Secrets that carry our marks for nothing.
	strays []*corev1.Secret
	// mass is whether they vanish in masses; vanished and total are how many.
	mass            decide.Mass
	vanished, total int
	// release is what an annotation releases.
	release decide.Release

	// used are the annotations to remove once the status is stored.
	used []string
	// released are the reasons that a person's annotation has released in this pass.
	released []string
}

// begin starts a pass.
func (r *Reconciler) begin(config *computev1.ProviderConfig) *pass {
	key := types.NamespacedName{Namespace: config.Namespace, Name: config.Name}
	declared := r.declared(config)
	return &pass{
		config:   config,
		status:   *config.Status.DeepCopy(),
		memory:   r.memories.of(key, config.UID),
		now:      r.Now(),
		declared: fingerprintOf(declared.Endpoint, declared.Timeout, declared.QPS, declared.Burst),
		release:  releaseOf(config),
	}
}

func (p *pass) key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.config.Namespace, Name: p.config.Name}
}

// state is what the pass knows, as decide wants it.
func (p *pass) state() decide.State {
	probe := p.memory.answer
	if !p.probed && (p.due || !p.memory.way.leads(p.declared, p.credentials.fingerprint())) {
		probe = decide.ProbeDue
	}
	identity := decide.IdentityOther
	if p.sameIdentity() {
		identity = decide.IdentitySame
	}
	return decide.State{
		Deleting:        !p.config.DeletionTimestamp.IsZero(),
		Finalizer:       slices.Contains(p.config.Finalizers, computev1.ProviderConfigFinalizer),
		Users:           p.users,
		Credentials:     p.credentials.verdict,
		Unmarked:        len(p.credentials.unmarked()) > 0,
		Strays:          len(p.strays) > 0,
		Endpoint:        p.endpoint(),
		EndpointAllowed: endpointAllowed(p.config),
		Identified:      p.status.Identity != "",
		Probe:           probe,
		Tolerable:       p.tolerable(),
		Identity:        identity,
		Shrunk:          len(p.lostCapabilities()) > 0,
		CircuitOpen:     p.memory.way.holdsBack(),
		Mass:            p.mass,
		Release:         p.release,
	}
}

func (p *pass) endpoint() decide.Endpoint {
	switch p.status.Endpoint {
	case "":
		return decide.EndpointNew
	case p.config.Spec.Endpoint:
		return decide.EndpointKept
	}
	return decide.EndpointMoved
}

// sameIdentity: a provider that begins to tell its identity is still the same.
// One that ceases to is not: something else may answer in its place.
func (p *pass) sameIdentity() bool {
	accepted := p.status.Identity
	return accepted == "" || accepted == p.memory.capabilities.Identity
}

// lostCapabilities are those that were accepted and are not offered any more.
func (p *pass) lostCapabilities() []string {
	var lost []string
	for _, name := range p.status.Capabilities {
		if !p.memory.capabilities.Has(name) {
			lost = append(lost, name)
		}
	}
	return lost
}

// tolerable reports whether one more failure is no news yet: the verdict that
// stands came from a successful probe of the same settings, and fewer than
// failuresShown probes in a row have failed since.
func (p *pass) tolerable() bool {
	ready := meta.FindStatusCondition(p.status.Conditions, computev1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != p.config.Generation || p.memory.untried {
		return false
	}
	fine := ready.Reason == computev1.ReasonProbed || holds(ready.Reason)
	return fine && p.memory.failures < failuresShown
}

// holds reports whether a reason is one that holds a provider which answers.
func holds(reason string) bool {
	switch reason {
	case computev1.ReasonIdentityChanged, computev1.ReasonCapabilitiesShrunk, computev1.ReasonMassDisappearance:
		return true
	}
	return false
}

// use makes an annotation count no more: it is removed once the status is stored.
func (p *pass) use(annotation string) {
	if _, found := p.config.Annotations[annotation]; found && !slices.Contains(p.used, annotation) {
		p.used = append(p.used, annotation)
	}
}

func releaseOf(config *computev1.ProviderConfig) decide.Release {
	switch config.Annotations[computev1.ReleaseAnnotation] {
	case computev1.ReasonIdentityChanged:
		return decide.ReleaseIdentity
	case computev1.ReasonCapabilitiesShrunk:
		return decide.ReleaseCapabilities
	case computev1.ReasonMassDisappearance:
		return decide.ReleaseMass
	}
	return decide.ReleaseNone
}

func endpointAllowed(config *computev1.ProviderConfig) bool {
	return config.Annotations[computev1.AllowEndpointChangeAnnotation] == "true"
}
