// Package fake is a provider in memory, for tests of what calls one: a Client
// whose faults are scripted, whose time stands still unless a test moves it, and
// that keeps a ledger of every call and every effect.
//
// It keeps the promises of the contract exactly: an effect happens at once and
// whole, under the create key if there is one, and the ledger tells it whether or
// not the caller got to know.
package fake

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/example/vmoperator/src/provider"
)

// Full are capabilities with everything that the contract knows.
func Full() provider.Capabilities {
	return provider.Capabilities{Identity: "fake", Offered: provider.KnownCapabilities()}
}

// Options are what a Provider is from its start. The zero Options are a provider
// of the minimum whose VMs stay Provisioning.
type Options struct {
	// Capabilities are what is offered; SetCapabilities changes them.
	Capabilities provider.Capabilities
	// Phase is that of a VM just made. The default is Provisioning.
	Phase provider.Phase
	// PageSize is how many VMs a page has. The default is 500.
	PageSize int
	// ForgivingDelete lets the deletion of an unknown VM succeed.
	ForgivingDelete bool
	// SlowDelete leaves a deleted VM Deleting until Finish or Vanish.
	SlowDelete bool
	// HiddenReads is how many reads of a VM just made do not show it; SetHiddenReads
	// changes it.
	HiddenReads int
	// NoAddresses makes VMs without addresses.
	NoAddresses bool
}

// Provider is a provider.Client that is its own provider. Call New. All methods
// may be called at any time, from faults' hooks as well.
type Provider struct {
	options Options

	mu   sync.Mutex
	made int
	// machines are in the order of seq; byID holds the same, byKey those with a key.
	machines []*machine
	byID     map[string]*machine
	byKey    map[string][]*machine
	keys     map[string]*creation
	faults   []*Fault
	ledger   []*Entry
	resetAt  int // calls that Reset forgot
}

var _ provider.Client = (*Provider)(nil)

type machine struct {
	provider.Machine

	seq    int
	key    string
	hidden int
}

// creation is what a create key was used for.
type creation struct {
	request provider.CreateRequest
	id      string
}

// New returns a provider without VMs.
func New(options Options) *Provider {
	if options.Phase == "" {
		options.Phase = provider.PhaseProvisioning
	}
	if options.PageSize == 0 {
		options.PageSize = 500
	}
	return &Provider{
		options: options, byID: map[string]*machine{}, byKey: map[string][]*machine{}, keys: map[string]*creation{},
	}
}

// SetCapabilities changes what is offered.
func (p *Provider) SetCapabilities(capabilities provider.Capabilities) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.Capabilities = capabilities
}

// SetHiddenReads changes how many reads do not show a VM that is made from now on.
func (p *Provider) SetHiddenReads(reads int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.HiddenReads = reads
}

// SetSlowDelete changes whether deleted VMs stay Deleting.
func (p *Provider) SetSlowDelete(slow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.SlowDelete = slow
}

// SetPhase changes the phase of a VM, and reports whether there is such a VM.
func (p *Provider) SetPhase(id string, phase provider.Phase) bool {
	return p.Change(id, func(m *provider.Machine) { m.Phase = phase })
}

// Change edits a VM as somebody else at the provider would, and reports whether
// there is such a VM.
func (p *Provider) Change(id string, edit func(*provider.Machine)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.find(id)
	if found != nil {
		edit(&found.Machine)
	}
	return found != nil
}

// Provision makes every Provisioning VM Running.
func (p *Provider) Provision() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, each := range p.machines {
		if each.Phase == provider.PhaseProvisioning {
			each.Phase = provider.PhaseRunning
		}
	}
}

// Finish completes the deletion of every Deleting VM.
func (p *Provider) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, each := range slices.Clone(p.machines) {
		if each.Phase == provider.PhaseDeleting {
			p.remove(each.ID)
		}
	}
}

// Vanish deletes a VM behind the caller's back, and reports whether there was
// such a VM.
func (p *Provider) Vanish(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.find(id)
	p.remove(id)
	return found != nil
}

// Put adds a VM that was made before, under a key if that is not empty, and
// returns its id: the machine's, which no VM may have, or a new one.
func (p *Provider) Put(given provider.Machine, key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	added := p.add(clone(given), key)
	if key != "" {
		p.keys[key] = &creation{id: added.ID, request: provider.CreateRequest{
			Name: given.Name, Image: given.Image, CPU: given.CPU, Memory: given.Memory, Labels: given.Labels,
		}}
	}
	return added.ID
}

// Live are the VMs that exist, those included that reads do not show yet, in the
// order in which they were made.
func (p *Provider) Live() []provider.Machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	live := make([]provider.Machine, 0, len(p.machines))
	for _, each := range p.machines {
		live = append(live, clone(each.Machine))
	}
	return live
}

// Len is how many VMs Live returns.
func (p *Provider) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.machines)
}

// Find returns a VM as it is, whether or not reads show it, and reports whether
// there is such a VM.
func (p *Provider) Find(id string) (provider.Machine, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.find(id)
	if found == nil {
		return provider.Machine{}, false
	}
	return clone(found.Machine), true
}

// Offers reports whether a capability is offered.
func (p *Provider) Offers(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offers(name)
}

// KeyOf returns the create key of a VM; empty if it has none, or is not there.
func (p *Provider) KeyOf(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.find(id); found != nil {
		return found.key
	}
	return ""
}

func (p *Provider) find(id string) *machine { return p.byID[id] }

func (p *Provider) add(given provider.Machine, key string) *machine {
	p.made++
	if given.ID == "" {
		given.ID = fmt.Sprintf("vm-%d", p.made)
	}
	added := &machine{Machine: given, seq: p.made, key: key, hidden: p.options.HiddenReads}
	p.machines = append(p.machines, added)
	p.byID[added.ID] = added
	if key != "" {
		p.byKey[key] = append(p.byKey[key], added)
	}
	return added
}

func (p *Provider) remove(id string) {
	found := p.find(id)
	if found == nil {
		return
	}
	index := p.firstAfter(found.seq - 1)
	p.machines = slices.Delete(p.machines, index, index+1)
	delete(p.byID, id)
	sharing := slices.DeleteFunc(p.byKey[found.key], func(m *machine) bool { return m == found })
	if len(sharing) == 0 {
		delete(p.byKey, found.key)
		return
	}
	p.byKey[found.key] = sharing
}

// firstAfter is the index of the first VM that was made after the one with a
// number.
func (p *Provider) firstAfter(seq int) int {
	return sort.Search(len(p.machines), func(i int) bool { return p.machines[i].seq > seq })
}

func clone(m provider.Machine) provider.Machine {
	m.Addresses = slices.Clone(m.Addresses)
	m.Labels = maps.Clone(m.Labels)
	return m
}
