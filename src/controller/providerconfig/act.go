package providerconfig

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider/registry"
)

// act carries out a decision: at most one side effect.
func (r *Reconciler) act(ctx context.Context, p *pass, state decide.State, decision decide.Decision) error {
	switch decision.Action {
	case decide.AddFinalizer:
		return r.addFinalizer(ctx, p)
	case decide.Rest:
		return r.rest(ctx, p)
	case decide.RemoveFinalizer:
		return r.removeFinalizer(ctx, p)
	case decide.MarkSecrets:
		return r.markSecrets(ctx, p)
	case decide.UnmarkSecrets:
		return r.unmarkSecrets(ctx, p)
	case decide.RunProbe:
		return r.probe(ctx, p)
	case decide.Latch:
		p.mass, p.release = decide.MassLatched, decide.ReleaseNone
		p.use(computev1.ReleaseAnnotation)
	case decide.ReleaseMassDisappearance:
		p.mass = decide.MassNone
		at := metav1.NewTime(p.now).Rfc3339Copy()
		p.status.ReleasedAt = &at
		p.releasedNow(computev1.ReasonMassDisappearance)
	case decide.AcceptIdentity:
		p.acceptIdentity(true)
		p.releasedNow(computev1.ReasonIdentityChanged)
	case decide.AcceptCapabilities:
		p.acceptCapabilities()
		p.releasedNow(computev1.ReasonCapabilitiesShrunk)
	case decide.Serve:
		p.accept(state)
	case decide.Keep, decide.Retry, decide.Stall, decide.Hold, decide.Gone:
	}
	return nil
}

func (p *pass) releasedNow(reason string) {
	p.release = decide.ReleaseNone
	p.released = append(p.released, reason)
	p.use(computev1.ReleaseAnnotation)
}

// accept takes the provider for what it says it is. A release that nothing is
// held for any more must not lie in wait for the next hold.
func (p *pass) accept(state decide.State) {
	if state.Endpoint == decide.EndpointMoved && state.EndpointAllowed {
		p.use(computev1.AllowEndpointChangeAnnotation)
	}
	p.use(computev1.ReleaseAnnotation)
	p.acceptIdentity(state.InUse() && state.Endpoint != decide.EndpointNew)
	p.acceptCapabilities()
}

// acceptIdentity takes the identity that was found. With VirtualMachines, the old
// one becomes a former one, which includes "none": VMs that were made before the
// provider told an identity are its own. Without, the chain ends.
func (p *pass) acceptIdentity(inherit bool) {
	found := p.memory.capabilities.Identity
	if p.status.Identity != found {
		p.status.FormerIdentities = formerIdentities(p.status, found, inherit)
	}
	p.status.Identity = found
	p.status.Endpoint = p.config.Spec.Endpoint
}

func (p *pass) acceptCapabilities() {
	p.status.Capabilities = p.memory.capabilities.Offered
}

func (r *Reconciler) addFinalizer(ctx context.Context, p *pass) error {
	return r.patchMetadata(ctx, p.config, func() {
		controllerutil.AddFinalizer(p.config, computev1.ProviderConfigFinalizer)
	})
}

// rest first closes the provider to VirtualMachines, and then looks whether there
// are any: one that has begun to use it before is seen, and one that comes after
// waits for the finalizer.
func (r *Reconciler) rest(ctx context.Context, p *pass) error {
	if entry := r.Registry.Get(p.key()); entry.State == registry.Ready {
		entry.State = registry.Idle
		r.Registry.Set(p.key(), entry)
	}
	var err error
	if p.users, err = r.usersOf(ctx, p.key(), 0); err != nil || p.users != decide.NoUsers {
		return err
	}
	return r.removeFinalizer(ctx, p)
}

func (r *Reconciler) removeFinalizer(ctx context.Context, p *pass) error {
	return client.IgnoreNotFound(r.patchMetadata(ctx, p.config, func() {
		controllerutil.RemoveFinalizer(p.config, computev1.ProviderConfigFinalizer)
	}))
}

// patchMetadata changes an object's metadata in one patch, bound to the version
// that was read: a list such as the finalizers is patched as a whole, and must
// not take away what somebody else has added meanwhile.
func (r *Reconciler) patchMetadata(ctx context.Context, object client.Object, change func()) error {
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", object)
	}
	change()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return r.Client.Patch(ctx, object, patch, client.FieldOwner(computev1.FieldOwner))
}
