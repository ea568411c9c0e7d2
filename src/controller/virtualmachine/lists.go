package virtualmachine

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
)

// listedFor is how many poll intervals a list is good for: more than one, for the
// next list takes time and may fail.
const listedFor = 3

// listed reports whether lists show what becomes of a provider's VMs, so that none
// is polled by itself.
func (r *Reconciler) listed(entry registry.Entry) bool {
	return r.Lists != nil && snapshot.Lists(entry)
}

// tried returns what reports whether a provider was listed through its present
// entry; nil if providers never are.
func (r *Reconciler) tried() func(types.NamespacedName, int64) bool {
	if r.Lists == nil {
		return nil
	}
	return r.Lists.Tried
}

// brisk reports whether lists follow each other so closely that a VM in transition
// need not be looked at by itself.
func (r *Reconciler) brisk(p *pass) bool {
	return r.listed(p.provider) && r.Lists.Brisk(p.providerKey())
}

// takeList takes in what the last list says of a VM, unless an answer or a write of
// ours is younger. That a list does not show the VM proves nothing: it must be
// looked for.
func (r *Reconciler) takeList(p *pass, id string) {
	if !r.listed(p.provider) {
		return
	}
	latest := r.Lists.Latest(p.providerKey())
	if latest == nil || latest.Revision != p.provider.Revision || !latest.Begun.After(p.seen.at) {
		return
	}
	machine, shown := latest.Find(id)
	if !shown {
		p.seen.doubt()
		p.seen.shown = p.seen.shown || latest.Lost(id)
		return
	}
	p.seen.see(machine, latest.Revision, latest.Begun, latest.Begun.Add(listedFor*p.provider.PollInterval), true)
}

// await tells whether the VM is in transition, for lists to be as frequent as that
// asks for.
func (r *Reconciler) await(p *pass, d decide.Decision) {
	if r.Lists == nil || d.Action == decide.Create || d.Action == decide.Adopt {
		return
	}
	awaited := d.After == decide.Soon
	if awaited == (p.seen.awaitedOf != types.NamespacedName{}) {
		return
	}
	r.Lists.Await(p.providerKey(), p.key().String(), awaited)
	p.seen.awaitedOf = types.NamespacedName{}
	if awaited {
		p.seen.awaitedOf = p.providerKey()
	}
}

// awaitNoMore is for an object that is gone.
func (r *Reconciler) awaitNoMore(key types.NamespacedName, seen *sighting) {
	if seen != nil && r.Lists != nil && seen.awaitedOf != (types.NamespacedName{}) {
		r.Lists.Await(seen.awaitedOf, key.String(), false)
		seen.awaitedOf = types.NamespacedName{}
	}
}

// listChanges enqueues the VirtualMachines whose VM is not as their status says, each
// time that their provider was listed.
func (r *Reconciler) listChanges() source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		if r.Lists == nil {
			return nil
		}
		r.Lists.Listen(func(key types.NamespacedName, first bool) {
			// Those that have waited for their first list are let in, bit by bit.
			r.rollouts.Wake()
			if !first && !r.rollouts.Trying(key) {
				r.enqueue(ctx, queue, key, r.tells(key))
			}
		})
		return nil
	})
}

// tells returns what reports whether the last list tells something new of a VM.
func (r *Reconciler) tells(key types.NamespacedName) func(*computev1.VirtualMachine) bool {
	latest := r.Lists.Latest(key)
	if latest == nil || latest.Revision != r.Registry.Get(key).Revision {
		return func(*computev1.VirtualMachine) bool { return false }
	}
	var awaited []string
	if !r.Lists.Brisk(key) {
		awaited = r.Lists.Awaited(key)
	}
	return func(vm *computev1.VirtualMachine) bool {
		switch {
		case vm.Status.ID == "" || paused(vm):
			return false
		case slices.Contains(awaited, client.ObjectKeyFromObject(vm).String()):
			// It is looked at by itself again, and its next look may be far away.
			return true
		}
		machine, shown := latest.Find(vm.Status.ID)
		if !shown {
			// One that is said to have vanished is looked for at its own time.
			_, vanished := vanishedSince(vm)
			return !vanished
		}
		return differs(&vm.Status, machine, r.VMAddressCIDRs)
	}
}

// differs reports whether a status tells something else of a VM than its provider.
func differs(status *computev1.VirtualMachineStatus, machine provider.Machine, allowed []netip.Prefix) bool {
	if status.Phase != string(machine.Phase) || status.CPU != machine.CPU {
		return true
	}
	memory, err := resource.ParseQuantity(machine.Memory)
	if told := err == nil; told != (status.Memory != nil) || told && memory.Cmp(*status.Memory) != 0 {
		return true
	}
	addresses := publishable(machine.Addresses, allowed)
	addresses = addresses[:min(len(addresses), maxStatusAddresses)]
	return !slices.EqualFunc(status.Addresses, addresses, func(shown string, address netip.Addr) bool { return shown == address.String() })
}

// enqueue enqueues the VirtualMachines of a ProviderConfig that are chosen.
func (r *Reconciler) enqueue(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], key types.NamespacedName,
	chosen func(*computev1.VirtualMachine) bool,
) {
	var list computev1.VirtualMachineList
	err := r.Client.List(ctx, &list, client.InNamespace(key.Namespace), client.MatchingFields{index.ProviderRef: key.Name},
		// They are only read, and there may be thousands.
		client.UnsafeDisableDeepCopy)
	if err != nil {
		log.FromContext(ctx).Error(err, "listing the VirtualMachines of a ProviderConfig", "providerConfig", key)
		return
	}
	for i := range list.Items {
		if chosen(&list.Items[i]) {
			queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
}

// inTransition reports whether a VM is about to be another.
func inTransition(machine provider.Machine) bool {
	return machine.Phase == provider.PhaseProvisioning || machine.Phase == provider.PhaseDeleting
}

// due is when an answer of now about a VM stops being good enough to act on. That
// of a VM in transition is good for less where it is looked at by itself: see fresh.
func (r *Reconciler) due(machine provider.Machine, entry registry.Entry) time.Time {
	switch {
	case r.listed(entry):
		return r.Now().Add(listedFor * entry.PollInterval)
	case inTransition(machine):
		return r.Now().Add(r.TransitionPoll)
	default:
		return r.Now().Add(jittered(entry.PollInterval))
	}
}

// fresh reports whether what was seen of a VM is good enough to act on.
func (r *Reconciler) fresh(p *pass, id string) bool {
	now := r.Now()
	if !p.seen.current(id, p.provider.Revision, now) {
		return false
	}
	return !inTransition(p.seen.machine) || now.Before(p.seen.kept) || now.Before(p.seen.at.Add(r.TransitionPoll)) || r.brisk(p)
}
