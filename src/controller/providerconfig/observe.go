package providerconfig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/disappearance"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
)

// observe reads what the apiserver knows. The provider is not asked here: whether
// it may be is a decision.
func (r *Reconciler) observe(ctx context.Context, p *pass) error {
	var err error
	if p.virtualMachines, err = r.virtualMachinesOf(ctx, p.key()); err != nil {
		return err
	}
	if p.users, err = r.usersOf(ctx, p.key(), len(p.virtualMachines)); err != nil {
		return err
	}
	if p.credentials, err = r.readCredentials(ctx, p.config); err != nil {
		return err
	}
	if p.strays, err = r.strays(ctx, p); err != nil {
		return err
	}
	p.observeMass(r.Registry.Get(p.key()).Lost)
	p.observeDue()
	return nil
}

func (r *Reconciler) virtualMachinesOf(ctx context.Context, key types.NamespacedName) ([]computev1.VirtualMachine, error) {
	list := &computev1.VirtualMachineList{}
	err := r.Client.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{index.ProviderRef: key.Name},
		// They are only read, and there may be thousands.
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("listing the ProviderConfig's VirtualMachines: %w", err)
	}
	return list.Items, nil
}

// usersOf believes the cache where it shows a user. Where it shows none, a
// VirtualMachine may have been created that it does not show yet.
func (r *Reconciler) usersOf(ctx context.Context, key types.NamespacedName, cached int) (decide.Users, error) {
	if cached > 0 {
		return decide.SomeUsers, nil
	}
	refs := []string{key.Name}
	if key.Name == computev1.DefaultProviderConfig {
		// The schema's default fills in a providerRef that is left out, but not one
		// that is given as "".
		refs = append(refs, "")
	}
	for _, ref := range refs {
		found := &metav1.PartialObjectMetadataList{}
		found.SetGroupVersionKind(computev1.GroupVersion.WithKind("VirtualMachineList"))
		err := r.APIReader.List(ctx, found, client.InNamespace(key.Namespace),
			client.MatchingFields{"spec.providerRef": ref}, client.Limit(1))
		if err != nil {
			return decide.UsersUnknown, fmt.Errorf("looking for VirtualMachines that refer to the ProviderConfig: %w", err)
		}
		if len(found.Items) > 0 {
			return decide.SomeUsers, nil
		}
	}
	return decide.NoUsers, nil
}

// strays are the Secrets of the namespace that carry our finalizer though no
// VirtualMachine's ProviderConfig refers to them. The cache finds them, and may
// be behind: whoever unmarks one looks again.
func (r *Reconciler) strays(ctx context.Context, p *pass) ([]*corev1.Secret, error) {
	marked := &corev1.SecretList{}
	err := r.Client.List(ctx, marked, client.InNamespace(p.config.Namespace),
		client.MatchingFields{index.Finalizers: computev1.CredentialsFinalizer})
	if err != nil {
		return nil, fmt.Errorf("listing the credentials Secrets in use: %w", err)
	}
	var strays []*corev1.Secret
	for i := range marked.Items {
		needed, err := r.needed(ctx, p, marked.Items[i].Name)
		if err != nil {
			return nil, err
		}
		if !needed {
			strays = append(strays, &marked.Items[i])
		}
	}
	return strays, nil
}

func (r *Reconciler) needed(ctx context.Context, p *pass, secret string) (bool, error) {
	configs := &computev1.ProviderConfigList{}
	err := r.Client.List(ctx, configs, client.InNamespace(p.config.Namespace), client.MatchingFields{index.ProviderSecrets: secret})
	if err != nil {
		return false, fmt.Errorf("listing the ProviderConfigs that refer to a Secret: %w", err)
	}
	for i := range configs.Items {
		config := &configs.Items[i]
		if config.UID == p.config.UID {
			// The pass knows better what this one refers to, and who to it.
			continue
		}
		users, err := r.virtualMachinesOf(ctx, client.ObjectKeyFromObject(config))
		if err != nil {
			return false, err
		}
		if len(users) > 0 {
			return true, nil
		}
	}
	return p.users != decide.NoUsers && refersTo(p.config, secret), nil
}

// observeMass finds a mass disappearance, or that one was found before: the
// condition is what remembers it, so that a restart does not forget. Where a changed
// way has shown none of the few VMs that it was tried with, nobody looks at the
// others until a person says that these are gone.
func (p *pass) observeMass(lost bool) {
	var releasedAt metav1.Time
	if p.status.ReleasedAt != nil {
		releasedAt = *p.status.ReleasedAt
	}
	var found bool
	found, p.vanished, p.total = disappearance.Mass(p.virtualMachines, p.now, pollInterval(p.config), releasedAt.Time)
	stalled := meta.FindStatusCondition(p.status.Conditions, computev1.ConditionStalled)
	switch {
	case stalled != nil && stalled.Reason == computev1.ReasonMassDisappearance:
		p.mass = decide.MassLatched
	case found || lost:
		p.mass = decide.MassFound
	default:
		p.mass = decide.MassNone
	}
}

// observeDue says whether to probe: when it is time, when what the last answer
// rests on has changed, or when somebody doubts it.
func (p *pass) observeDue() {
	m := p.memory
	doubted := m.doubted.Load() && !p.now.Before(m.probedAt.Add(doubtGap))
	p.due = m.cause != p.cause() || !p.now.Before(m.due) || doubted
}

// cause is what a probe made now rests on.
func (p *pass) cause() cause {
	return cause{
		generation:          p.config.Generation,
		release:             p.config.Annotations[computev1.ReleaseAnnotation],
		allowEndpointChange: p.config.Annotations[computev1.AllowEndpointChangeAnnotation],
		credentials:         p.credentials.fingerprint(),
	}
}
