// Package snapshot lists the VMs of every provider that offers it, so that one
// paged list for each ProviderConfig and poll interval shows what has become of all
// of its VMs.
//
// What a Snapshot proves is little, and is the caller's business: that a VM was
// shown since a moment, or that it was not, which a read of that VM must confirm. A
// list that fails, or does not end as it should, proves nothing and is not kept.
package snapshot

import (
	"time"
	"unique"

	"github.com/example/vmoperator/src/provider"
)

// Snapshot is one complete list of a provider's VMs. It never changes.
type Snapshot struct {
	// Revision is that of the registry's entry that the list came through.
	Revision int64
	// Begun is when the first page was asked for: everything that is said of a VM was
	// so at that time, or became so since.
	Begun time.Time
	// Pages is how many calls the list took.
	Pages int

	machines map[string]provider.Machine
	// lost are the VMs that earlier lists have shown and this one does not, by when the
	// last list was begun that did.
	lost map[string]time.Time
}

// lostFor is how long it is known of a VM that a list has shown it: many times what
// it takes to work on the news that it is not listed any more.
const lostFor = 10 * time.Minute

// follow takes over from the list before, which came the same way, what is known of
// VMs that are not listed any more.
func (s *Snapshot) follow(before *Snapshot) {
	s.lost = map[string]time.Time{}
	for id := range before.machines {
		if _, shown := s.machines[id]; !shown {
			s.lost[id] = before.Begun
		}
	}
	for id, at := range before.lost {
		if _, shown := s.machines[id]; !shown && s.Begun.Sub(at) < lostFor {
			s.lost[id] = at
		}
	}
}

// Lost reports whether a VM is not listed, and was a short while ago: reads have
// shown it before.
func (s *Snapshot) Lost(id string) bool {
	_, lost := s.lost[id]
	return lost
}

// Find returns a VM as the list shows it, without name, image and labels; false if
// the list does not show it.
func (s *Snapshot) Find(id string) (provider.Machine, bool) {
	machine, shown := s.machines[id]
	return machine, shown
}

// Len is the number of VMs that the list shows.
func (s *Snapshot) Len() int { return len(s.machines) }

// Observed is what of a Machine can change while it exists. Names, images and
// labels of ten thousand VMs would be most of what is kept; phases and sizes are few,
// and are kept once.
func Observed(machine provider.Machine) provider.Machine {
	return provider.Machine{
		ID:        machine.ID,
		Phase:     unique.Make(machine.Phase).Value(),
		CPU:       machine.CPU,
		Memory:    unique.Make(machine.Memory).Value(),
		Addresses: machine.Addresses,
	}
}
