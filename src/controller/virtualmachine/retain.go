package virtualmachine

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/owner"
)

// +kubebuilder:rbac:groups=compute.example.com,resources=providerconfigs,verbs=get
// +kubebuilder:rbac:groups=compute.example.com,resources=providerconfigs/status,verbs=patch

// retain records with the ProviderConfig, before the object lets its VM go, that
// this is on purpose: the VM's labels will name an object that does not exist, and
// must not make it an orphan. The record is by the UID in the labels, so that it
// holds for a VM whose creation arrives late as well.
func (r *Reconciler) retain(ctx context.Context, p *pass) error {
	config := &computev1.ProviderConfig{}
	if err := r.APIReader.Get(ctx, p.providerKey(), config); err != nil {
		// Without the ProviderConfig nobody looks for orphans of its UID.
		return wrap("reading the ProviderConfig of a VM to retain", client.IgnoreNotFound(err))
	}
	uid, carried := labelledUID(p, config.UID)
	known := slices.ContainsFunc(config.Status.Retained, func(r computev1.RetainedVirtualMachine) bool { return r.UID == string(uid) })
	if !carried || known || len(config.Status.Retained) >= computev1.MaxRetained {
		// While the list is full, no orphan is deleted.
		return nil
	}
	before := config.DeepCopy()
	config.Status.Retained = append(config.Status.Retained, computev1.RetainedVirtualMachine{
		UID: string(uid), Name: p.vm.Name, ID: p.id(),
	})
	// A list is patched as a whole: bound to the version, it takes nobody else's entry
	// away.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := r.Client.Status().Patch(ctx, config, patch, client.FieldOwner(computev1.FieldOwner))
	return wrap("recording a retained VM", client.IgnoreNotFound(err))
}

// labelledUID is the UID that the VM's labels name as its object's, and whether
// they may name this ProviderConfig. Without a record nobody knows, and it is
// assumed.
func labelledUID(p *pass, providerConfig types.UID) (types.UID, bool) {
	if p.record == nil {
		return p.vm.UID, p.id() != ""
	}
	from, labelled := owner.Of(p.record.Request.Labels)
	return from.UID, labelled && from.ProviderConfig == providerConfig && (p.id() != "" || p.attempted())
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
