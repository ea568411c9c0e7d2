package virtualmachine

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/controller/virtualmachine/rollout"
	"github.com/example/vmoperator/src/provider"
)

// fleet are the VirtualMachines of a ProviderConfig. Those whose VM should be there
// come first: they find out whether a changed way leads to it.
func (r *Reconciler) fleet(ctx context.Context, config types.NamespacedName) (rollout.Members, error) {
	var list computev1.VirtualMachineList
	err := r.Client.List(ctx, &list, client.InNamespace(config.Namespace), client.MatchingFields{index.ProviderRef: config.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return rollout.Members{}, err
	}
	var members rollout.Members
	for i := range list.Items {
		vm := &list.Items[i]
		key := client.ObjectKeyFromObject(vm)
		if vm.Status.ID != "" && vm.DeletionTimestamp.IsZero() && !paused(vm) {
			members.First = append(members.First, key)
		} else {
			members.Rest = append(members.Rest, key)
		}
	}
	return members, nil
}

// mayUse reports whether this object may go through the present way to its
// provider. An intent that this pass has stored is followed by its POST in any
// case: not every provider can tell later whether it was sent.
func (r *Reconciler) mayUse(p *pass) bool {
	return p.fresh || r.rollouts.Admits(p.providerKey(), p.provider, p.key())
}

// verdict is what a pass says of the way to its provider.
func verdict(p *pass, s decide.State) rollout.Verdict {
	class := provider.ClassOf(p.fault)
	switch {
	case s.Provider == decide.ProviderUnprobed:
		return rollout.Pending
	case s.Provider != decide.ProviderReady:
		return rollout.Silent
	case p.machine.ID != "":
		return rollout.Well
	case class == provider.Throttled:
		return rollout.Pending
	case class == provider.Rejected && p.id() == "":
		// It is the request that the provider refuses.
		return rollout.Silent
	case p.fault != nil:
		return rollout.Failed
	case p.id() == "" || s.Lifecycle != decide.Live || s.Paused || s.Owner != decide.Own:
		return rollout.Silent
	case s.Machine == decide.MachineVanished, s.Machine == decide.MachineVanishedEnMasse, s.Machine == decide.MachineGone:
		return rollout.Vanished
	default:
		return rollout.Failed
	}
}
