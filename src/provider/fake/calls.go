package fake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/example/vmoperator/src/provider"
)

// Capabilities implements provider.Client.
func (p *Provider) Capabilities(ctx context.Context) (provider.Capabilities, error) {
	return run(ctx, p, Entry{Op: provider.OperationCapabilities}, func(*Entry) (provider.Capabilities, error) {
		capabilities := p.options.Capabilities
		capabilities.Offered = slices.Clone(capabilities.Offered)
		return capabilities, nil
	})
}

// Create implements provider.Client.
func (p *Provider) Create(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, error) {
	machine, _, err := p.Make(ctx, key, request)
	return machine, err
}

// Make is Create, and reports whether the VM was made now.
func (p *Provider) Make(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, bool, error) {
	call := Entry{Op: provider.OperationCreate, Key: key}
	made := false
	machine, err := run(ctx, p, call, func(entry *Entry) (provider.Machine, error) {
		if earlier := p.keys[key]; earlier != nil && key != "" && p.offers(provider.CapabilityIdempotency) {
			entry.ID = earlier.id
			return p.replay(earlier, request)
		}
		added := p.add(p.machine(request), key)
		entry.ID, entry.Effect, made = added.ID, true, true
		if key != "" {
			p.keys[key] = &creation{request: cloneRequest(request), id: added.ID}
		}
		return clone(added.Machine), nil
	})
	return machine, made, err
}

// replay answers a create key that was used before.
func (p *Provider) replay(earlier *creation, request provider.CreateRequest) (provider.Machine, error) {
	found := p.find(earlier.id)
	if found == nil {
		return provider.Machine{}, fail(provider.NotFound, "the VM of this create key is deleted")
	}
	if !sameRequest(earlier.request, request) {
		return provider.Machine{}, fail(provider.Conflict, "the create key is known with another request")
	}
	return clone(found.Machine), nil
}

// machine is a new VM as a request describes it.
func (p *Provider) machine(request provider.CreateRequest) provider.Machine {
	made := provider.Machine{
		Name: request.Name, Image: request.Image, CPU: request.CPU, Memory: request.Memory, Phase: p.options.Phase,
	}
	if p.offers(provider.CapabilityOwner) {
		made.Labels = maps.Clone(request.Labels)
	}
	if !p.options.NoAddresses {
		made.Addresses = []string{fmt.Sprintf("192.0.2.%d", p.made%254+1)}
	}
	return made
}

// Get implements provider.Client.
func (p *Provider) Get(ctx context.Context, id string) (provider.Machine, error) {
	return run(ctx, p, Entry{Op: provider.OperationGet, ID: id}, func(*Entry) (provider.Machine, error) {
		return shown(p.find(id))
	})
}

// FindByKey implements provider.Client.
func (p *Provider) FindByKey(ctx context.Context, key string) (provider.Machine, error) {
	call := Entry{Op: provider.OperationFind, Key: key}
	return run(ctx, p, call, func(entry *Entry) (provider.Machine, error) {
		if !p.offers(provider.CapabilityList) {
			return provider.Machine{}, notOffered()
		}
		made := p.byKey[key]
		if len(made) == 0 {
			return shown(nil)
		}
		entry.ID = made[0].ID
		return shown(made[0])
	})
}

// List implements provider.Client.
func (p *Provider) List(ctx context.Context, cursor string) (provider.Page, error) {
	return p.ListPage(ctx, cursor, p.options.PageSize)
}

// ListPage is List with a page of at most limit VMs; Options.PageSize bounds it as
// well.
func (p *Provider) ListPage(ctx context.Context, cursor string, limit int) (provider.Page, error) {
	limit = min(limit, p.options.PageSize)
	return run(ctx, p, Entry{Op: provider.OperationList}, func(*Entry) (provider.Page, error) {
		if !p.offers(provider.CapabilityList) {
			return provider.Page{}, notOffered()
		}
		after, err := strconv.Atoi(cursor)
		if cursor != "" && err != nil {
			return provider.Page{}, fail(provider.Rejected, "the cursor is not one that was given out")
		}
		var page provider.Page
		for _, each := range p.machines[p.firstAfter(after):] {
			if len(page.Items) == limit {
				page.Next = strconv.Itoa(after)
				break
			}
			after = each.seq
			if visible, err := shown(each); err == nil {
				page.Items = append(page.Items, visible)
			}
		}
		return page, nil
	})
}

// Resize implements provider.Client.
func (p *Provider) Resize(ctx context.Context, id string, size provider.Size) (provider.Machine, error) {
	call := Entry{Op: provider.OperationResize, ID: id}
	return run(ctx, p, call, func(entry *Entry) (provider.Machine, error) {
		found := p.find(id)
		switch {
		case !p.offers(provider.CapabilityResize):
			return provider.Machine{}, notOffered()
		case found == nil:
			return shown(nil)
		case found.Phase == provider.PhaseDeleting:
			return provider.Machine{}, fail(provider.Transient, "the VM is being deleted")
		}
		found.CPU, found.Memory, entry.Effect = size.CPU, size.Memory, true
		return clone(found.Machine), nil
	})
}

// Delete implements provider.Client.
func (p *Provider) Delete(ctx context.Context, id string) error {
	_, err := run(ctx, p, Entry{Op: provider.OperationDelete, ID: id}, func(entry *Entry) (struct{}, error) {
		found := p.find(id)
		switch {
		case found == nil && p.options.ForgivingDelete:
		case found == nil:
			return struct{}{}, fail(provider.NotFound, "there is no such VM")
		case found.Phase == provider.PhaseDeleting:
		case p.options.SlowDelete:
			found.Phase, entry.Effect = provider.PhaseDeleting, true
		default:
			p.remove(id)
			entry.Effect = true
		}
		return struct{}{}, nil
	})
	return err
}

// shown is a VM as a read shows it.
func shown(found *machine) (provider.Machine, error) {
	if found == nil {
		return provider.Machine{}, fail(provider.NotFound, "there is no such VM")
	}
	if found.hidden > 0 {
		found.hidden--
		return provider.Machine{}, fail(provider.NotFound, "there is no such VM")
	}
	return clone(found.Machine), nil
}

func (p *Provider) offers(name string) bool { return p.options.Capabilities.Has(name) }

func fail(class provider.Class, message string) *provider.Error {
	return &provider.Error{Class: class, Err: errors.New(message)}
}

func notOffered() *provider.Error {
	failure := fail(provider.Rejected, "the provider does not offer this")
	failure.Cause = provider.CauseProtocol
	return failure
}

func sameRequest(one, other provider.CreateRequest) bool {
	return one.Name == other.Name && one.Image == other.Image && one.CPU == other.CPU && one.Memory == other.Memory &&
		maps.Equal(one.Labels, other.Labels)
}

func cloneRequest(request provider.CreateRequest) provider.CreateRequest {
	request.Labels = maps.Clone(request.Labels)
	return request
}
