package virtualmachine

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/cachelag"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/snapshot"
)

// sighting is what this process remembers of one object's VM. Forgetting it is
// always safe: it costs a call, or a wait until absence counts by time alone.
type sighting struct {
	// machine is the last answer that showed the VM.
	machine provider.Machine
	// revision is the registry entry that the answer came through.
	revision int64
	// at is when the answer was true for certain: when it came, or when the list was
	// begun that it is part of. An older answer does not count, and after a write of
	// ours none that was asked for before.
	at time.Time
	// due is when the answer stops being good enough to act on.
	due time.Time
	// kept is until when it may be acted on though it is an old one.
	kept time.Time
	// awaitedOf is the ProviderConfig whose lists should come sooner for this VM; empty
	// if it is not in transition.
	awaitedOf types.NamespacedName
	// shown is true once a read has shown the VM: the answer to a POST is no proof
	// that reads can see it yet.
	shown bool
	// absences counts the reads in a row that did not show the VM.
	absences int
	// goneKey is the create key whose VM the provider says was deleted.
	goneKey string
	// deletedAt is when the provider last accepted to delete the VM.
	deletedAt time.Time
	// resized is the size that the provider was last asked for, and when.
	resized   provider.Size
	resizedAt time.Time
	// refused is the request that would be refused again.
	refused *refusal
	// lag is how far the cache is behind our own writes to the object.
	lag cachelag.Lag
	// released is true once our finalizer is off. The apiserver answers the patch
	// that lets an object go with the resourceVersion from before it.
	released bool
	// waits is true once the object was seen to wait, for its end or for a person who
	// paused it: whoever takes its finalizer off then means to leave the VM.
	waits bool
	// made is the VM, if this process has made it, and is to delete it with its object.
	made *made
	// failures counts the looks in a row that failed.
	failures int
}

// refusal is a request that the provider refused for good: it is not repeated
// until the spec or the way to the provider changes, or refusalLasts has passed.
type refusal struct {
	op         provider.Operation
	generation int64
	revision   int64
	at         time.Time
	err        error
}

// refusalLasts is how long a refused request is not repeated.
const refusalLasts = time.Hour

// about reports whether the refusal concerns a VM in this state. That a VM may not
// be resized or deleted says nothing once it has gone by itself, and nothing of the
// one that is made instead.
func (f *refusal) about(machine decide.Machine) bool {
	if f.op == provider.OperationCreate {
		return machine == decide.MachineNone
	}
	return machine.Exists()
}

// current reports whether the sighting shows the VM with this id through this
// registry entry and is fresh enough.
func (s *sighting) current(id string, revision int64, now time.Time) bool {
	return s.machine.ID == id && s.revision == revision && now.Before(s.due)
}

// stillRefused reports whether a request for this generation would be refused.
func (s *sighting) stillRefused(generation, revision int64, now time.Time) bool {
	return s.refused != nil && s.refused.generation == generation && s.refused.revision == revision &&
		now.Before(s.refused.at.Add(refusalLasts))
}

// see takes in an answer that shows the VM. A read, other than the answer to a
// POST, also proves that reads can see it.
func (s *sighting) see(machine provider.Machine, revision int64, at, due time.Time, read bool) {
	if s.machine.ID != machine.ID {
		s.shown, s.deletedAt, s.resizedAt = false, time.Time{}, time.Time{}
	}
	s.machine, s.revision, s.at, s.due = snapshot.Observed(machine), revision, at, due
	s.absences, s.failures = 0, 0
	s.shown = s.shown || read
}

// keep lets the answer be acted on until then at least.
func (s *sighting) keep(until time.Time) {
	s.kept = until
	if until.After(s.due) {
		s.due = until
	}
}

// doubt makes the next look ask the provider.
func (s *sighting) doubt() { s.due = time.Time{} }

// memory holds the sightings of all objects, and the VMs that are left of those
// that are gone. Objects are reconciled one at a time, so a sighting itself needs no
// lock.
type memory struct {
	mu        sync.Mutex
	sightings map[types.NamespacedName]entry
	left      map[types.NamespacedName][]made
}

type entry struct {
	uid types.UID
	*sighting
}

func newMemory() *memory {
	return &memory{sightings: map[types.NamespacedName]entry{}, left: map[types.NamespacedName][]made{}}
}

// of returns the sighting of an object; an object that was made anew under an
// old name begins with an empty one.
func (m *memory) of(vm *computev1.VirtualMachine, now time.Time) *sighting {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := types.NamespacedName{Namespace: vm.Namespace, Name: vm.Name}
	found, known := m.sightings[key]
	if !known || found.uid != vm.UID {
		if known && found.abandons(now) && !found.made.inherits(vm) {
			m.left[key] = append(m.left[key], *found.made)
		}
		found = entry{uid: vm.UID, sighting: &sighting{}}
		m.sightings[key] = found
	}
	if found.made != nil && (vm.Spec.DeletionPolicy == computev1.DeletionPolicyRetain || !found.made.at.Add(deleteInFlight).After(now)) {
		found.made = nil
	}
	found.waits = found.waits || !vm.DeletionTimestamp.IsZero() || paused(vm)
	return found.sighting
}

// leave keeps a VM that is still to be deleted.
func (m *memory) leave(key types.NamespacedName, vm made) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left[key] = append(m.left[key], vm)
}

// takeLeft returns the VMs that are still to be deleted, and forgets them.
func (m *memory) takeLeft(key types.NamespacedName) []made {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.left[key]
	delete(m.left, key)
	return left
}

// known is what is known of an object; its sighting is nil if that is nothing.
func (m *memory) known(key types.NamespacedName) entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sightings[key]
}

// forget drops what is known of an object that is gone.
func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sightings, key)
}

// behind reports whether an object read from the cache is older than our own
// last write to it: deciding from it would end in a conflict at best.
func (s *sighting) behind(vm *computev1.VirtualMachine) bool {
	return s.released && hasFinalizer(vm) || s.lag.Behind(vm)
}
