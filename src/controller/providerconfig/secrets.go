package providerconfig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
)

// markSecrets makes the Secrets that VirtualMachines need visible to the cache,
// and keeps them: when a namespace is deleted, the key must outlive the VMs.
func (r *Reconciler) markSecrets(ctx context.Context, p *pass) error {
	for _, secret := range p.credentials.unmarked() {
		err := r.patchMetadata(ctx, secret, func() {
			if secret.Labels == nil {
				secret.Labels = map[string]string{}
			}
			secret.Labels[computev1.WatchedLabel] = computev1.WatchedLabelValue
			controllerutil.AddFinalizer(secret, computev1.CredentialsFinalizer)
		})
		if err != nil {
			return fmt.Errorf("marking a credentials Secret: %w", err)
		}
	}
	return nil
}

// unmarkSecrets lets Secrets go that no VirtualMachine needs.
func (r *Reconciler) unmarkSecrets(ctx context.Context, p *pass) error {
	strays := p.strays
	p.strays = nil
	for _, secret := range strays {
		needed, err := r.neededLive(ctx, secret)
		if err != nil {
			return err
		}
		if needed {
			// The cache is behind, and will say so.
			continue
		}
		err = r.patchMetadata(ctx, secret, func() {
			delete(secret.Labels, computev1.WatchedLabel)
			controllerutil.RemoveFinalizer(secret, computev1.CredentialsFinalizer)
		})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("unmarking a credentials Secret: %w", err)
		}
	}
	return nil
}

// neededLive asks past the cache: what is unmarked wrongly may be deleted before
// it is marked again, and a key cannot be brought back.
func (r *Reconciler) neededLive(ctx context.Context, secret *corev1.Secret) (bool, error) {
	configs := &computev1.ProviderConfigList{}
	if err := r.APIReader.List(ctx, configs, client.InNamespace(secret.Namespace)); err != nil {
		return false, fmt.Errorf("listing the ProviderConfigs that refer to a Secret: %w", err)
	}
	for i := range configs.Items {
		config := &configs.Items[i]
		if !refersTo(config, secret.Name) {
			continue
		}
		users, err := r.usersOf(ctx, client.ObjectKeyFromObject(config), 0)
		if err != nil {
			return false, err
		}
		if users != decide.NoUsers {
			return true, nil
		}
	}
	return false, nil
}
