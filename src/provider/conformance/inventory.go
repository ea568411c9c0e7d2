package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/example/vmoperator/src/provider"
)

// inventory is what the checks made, or may have made: noted before the call, for
// the answer may never come.
type inventory struct {
	mu    sync.Mutex
	items []*item
}

// item is one POST.
type item struct {
	name, key string
	// repeat sends the same again; with idempotency it tells the VM's id.
	repeat func(context.Context) (string, error)
	// open: it is not known what the POST made.
	open bool
	id   string
	// deleted: a DELETE was accepted.
	deleted bool
}

func (v *inventory) intend(name, key string, repeat func(context.Context) (string, error)) *item {
	v.mu.Lock()
	defer v.mu.Unlock()
	added := &item{name: name, key: key, repeat: repeat, open: true}
	v.items = append(v.items, added)
	return added
}

// answered notes how a Client's Create ended.
func (i *item) answered(id string, err error) {
	switch provider.ClassOf(err) {
	case 0:
		// What cannot stand in a path cannot be deleted by it.
		if safeID.MatchString(id) {
			i.id, i.open = id, false
		}
	case provider.Ambiguous:
	default:
		i.nothing()
	}
}

// nothing notes that the POST made no VM.
func (i *item) nothing() { i.open = false }

func (v *inventory) all() []*item {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]*item(nil), v.items...)
}

// letGo asks for the deletion of what the check before has made, so that slow
// deletions are under way while others run. What fails here is tried again at the
// end.
func (v *inventory) letGo(ctx context.Context, s *subject) {
	for _, each := range v.all() {
		if each.id != "" && !each.deleted {
			err := s.client.Delete(ctx, each.id)
			each.deleted = err == nil || provider.ClassOf(err) == provider.NotFound
		}
	}
}

// clean removes everything and returns what may be left.
func (v *inventory) clean(ctx context.Context, s *subject) []string {
	var left []string
	for _, each := range v.all() {
		if err := each.remove(ctx, s); err != nil {
			left = append(left, err.Error())
		}
	}
	if err := sweep(ctx, s); err != nil {
		left = append(left, err.Error())
	}
	return left
}

// sweep removes what bears the run's name and nobody knows of: a provider that is
// wrong makes VMs and tells nothing of them.
func sweep(ctx context.Context, s *subject) error {
	if !s.capabilities.Has(provider.CapabilityList) {
		return nil
	}
	all, err := list(ctx, s)
	if err != nil {
		return fmt.Errorf("VMs whose names begin with %s may be left: they cannot be listed: %w", s.prefix(), err)
	}
	for i := range all {
		if !strings.HasPrefix(all[i].Name, s.prefix()) {
			continue
		}
		if err := (&item{}).end(ctx, s, all[i].ID); err != nil {
			return fmt.Errorf("the VM %s, named %s, is left: %w", all[i].ID, all[i].Name, err)
		}
	}
	return nil
}

var errCannotTell = errors.New("the provider has no way to tell")

func (i *item) remove(ctx context.Context, s *subject) error {
	ids := map[string]bool{}
	if i.id != "" {
		ids[i.id] = true
	}
	found, err := i.find(ctx, s)
	if found != "" {
		ids[found] = true
	}
	if err != nil && i.open {
		return fmt.Errorf("a VM named %s may be left: what its creation made is not known, and it cannot be found: %w", i.name, err)
	}
	for id := range ids {
		if err := i.end(ctx, s, id); err != nil {
			return fmt.Errorf("the VM %s, named %s, is left: %w", id, i.name, err)
		}
	}
	return nil
}

// find returns the id of the VM that the POST made, as far as it is there: by its
// key, or else by repeating the POST. Also where the id is known: a provider that
// is wrong may have made another VM than it said.
func (i *item) find(ctx context.Context, s *subject) (string, error) {
	keyed := s.capabilities.Has(provider.CapabilityIdempotency) && i.key != ""
	switch {
	case keyed && s.capabilities.Has(provider.CapabilityList):
		found, err := s.client.FindByKey(ctx, i.key)
		if provider.ClassOf(err) == provider.NotFound {
			return "", nil
		}
		return found.ID, err
	case !i.open:
		return "", nil
	case keyed:
		id, err := i.repeat(ctx)
		if provider.ClassOf(err) == provider.NotFound {
			// Its key is spent.
			return "", nil
		}
		return id, err
	case s.capabilities.Has(provider.CapabilityList):
		return findByName(ctx, s, i.name)
	}
	return "", errCannotTell
}

func findByName(ctx context.Context, s *subject, name string) (string, error) {
	all, err := list(ctx, s)
	if err != nil {
		return "", err
	}
	for i := range all {
		if all[i].Name == name {
			return all[i].ID, nil
		}
	}
	return "", errCannotTell
}

// list reads all pages.
func list(ctx context.Context, s *subject) ([]provider.Machine, error) {
	var all []provider.Machine
	cursor := ""
	for range mostPages {
		page, err := s.client.List(ctx, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
	return nil, fmt.Errorf("no end after %d pages", mostPages)
}

// end deletes a VM, if it is still there, and waits until it is gone.
func (i *item) end(ctx context.Context, s *subject, id string) error {
	if !i.deleted || id != i.id {
		if err := s.client.Delete(ctx, id); err != nil && provider.ClassOf(err) != provider.NotFound {
			return err
		}
	}
	return s.gone(ctx, id)
}
