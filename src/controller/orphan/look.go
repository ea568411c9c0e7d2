package orphan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/orphan/decide"
	"github.com/example/vmoperator/src/controller/orphan/finding"
	"github.com/example/vmoperator/src/provider"
)

const (
	// deletesPerLook paces deletions: a mistake must not be a big one before
	// somebody sees it.
	deletesPerLook = 3
	// objectsPerPage is how many VirtualMachines one request past the cache reads.
	objectsPerPage = 500
)

// errNoneKnown is an answer that contradicts every VM that is known.
var errNoneKnown = errors.New("the list shows none of the VMs that are known")

// look takes in a list of the provider's VMs, then reads the cluster, and remembers
// what is nobody's. It reports false where the list is still to come.
func (r *Reconciler) look(ctx context.Context, p *pass) bool {
	listed, err := r.list(p)
	if listed == nil && err == nil {
		return false
	}
	if err == nil {
		err = r.judge(ctx, p, listed)
	}
	if err != nil {
		r.failed(ctx, p, err)
		return true
	}
	next := r.interval()
	if p.memory.awaited() {
		next = min(recheck, next)
	}
	p.memory.due = p.now.Add(wait.Jitter(next, jitter))
	return true
}

// judge compares a complete list with the objects. The cache is asked first: while
// it shows an object for every VM, which is always but for trouble, no request is
// made. Where it does not it may be behind.
func (r *Reconciler) judge(ctx context.Context, p *pass, listed *listing) error {
	vms := make([]decide.VM, 0, len(listed.ours))
	for _, each := range listed.ours {
		vms = append(vms, decide.VM{ID: each.id, UID: each.owner.UID})
	}
	objects, err := cached(ctx, r, p)
	if err != nil {
		return err
	}
	kinds := decide.Sort(vms, objects.claims, retainedUIDs(p.config))
	if slices.ContainsFunc(kinds, suspicious) {
		if objects, err = live(ctx, r, p); err != nil {
			return err
		}
		kinds = decide.Sort(vms, objects.claims, retainedUIDs(p.config))
	}
	if !objects.shownIn(listed) {
		return errNoneKnown
	}
	m := p.memory
	m.remember(listed.ours, kinds, p.now)
	m.many = decide.Many(m.count(decide.Orphan), len(vms))
	r.pulse(p)
	m.hold = hold(p.config, objects.vms, p.entry, m.looks, p.now)
	r.tellFound(ctx, p)
	m.queue = p.ripe()
	return nil
}

func suspicious(kind decide.Kind) bool { return kind == decide.Orphan || kind == decide.Duplicate }

// objects are the VirtualMachines of a namespace. Those of the cache are read only.
type objects struct {
	claims []decide.Object
	// vms are those of the ProviderConfig.
	vms []computev1.VirtualMachine
}

// cached are the objects that the cache shows, in one page.
func cached(ctx context.Context, r *Reconciler, p *pass) (objects, error) {
	var all objects
	_, err := all.read(ctx, p, r.Client, client.UnsafeDisableDeepCopy)
	return all, err
}

// live are the objects that the apiserver has, page by page.
func live(ctx context.Context, r *Reconciler, p *pass) (objects, error) {
	var all objects
	for token := ""; ; {
		next, err := all.read(ctx, p, r.APIReader, client.Limit(objectsPerPage), client.Continue(token))
		if err != nil || next == "" {
			return all, err
		}
		token = next
	}
}

// read adds a page, and returns the token of the next one.
func (o *objects) read(ctx context.Context, p *pass, from client.Reader, options ...client.ListOption) (string, error) {
	page := &computev1.VirtualMachineList{}
	if err := from.List(ctx, page, append(options, client.InNamespace(p.config.Namespace))...); err != nil {
		return "", fmt.Errorf("listing the namespace's VirtualMachines: %w", err)
	}
	for i := range page.Items {
		o.claims = append(o.claims, claims(&page.Items[i]))
		if page.Items[i].ProviderConfigName() == p.config.Name {
			o.vms = append(o.vms, page.Items[i])
		}
	}
	return page.Continue, nil
}

// shownIn reports whether a list shows any of the VMs that the objects know. A
// provider that shows none has lost them, or another one answers.
func (o *objects) shownIn(listed *listing) bool {
	known := 0
	for i := range o.vms {
		id := o.vms[i].Status.ID
		if listed.ids[id] {
			return true
		}
		if id != "" {
			known++
		}
	}
	return known == 0
}

func retainedUIDs(config *computev1.ProviderConfig) []types.UID {
	uids := make([]types.UID, 0, len(config.Status.Retained))
	for _, retained := range config.Status.Retained {
		uids = append(uids, types.UID(retained.UID))
	}
	return uids
}

// remember takes in what a complete list says of each VM with our labels.
func (m *memory) remember(ours []kin, kinds []decide.Kind, now time.Time) {
	before := m.suspects
	m.suspects, m.retained = map[string]*suspect{}, 0
	m.lists = min(m.lists+1, decide.ListsNeeded)
	for i, each := range ours {
		if kinds[i] == decide.Retained {
			m.retained++
		}
		if !suspicious(kinds[i]) {
			continue
		}
		seen := &suspect{id: each.id, kind: kinds[i], owner: each.owner, since: now}
		if last := before[each.id]; last != nil && last.kind == seen.kind && last.owner == seen.owner {
			seen.since, seen.lists = last.since, last.lists
		}
		seen.lists++
		seen.leaving = each.phase == provider.PhaseDeleting
		m.suspects[each.id] = seen
	}
}

// awaited reports whether another list will tell more than this one did.
func (m *memory) awaited() bool {
	for _, each := range m.suspects {
		if !each.counts() {
			return true
		}
	}
	return m.lists < decide.ListsNeeded
}

// of are the ids of the VMs that are, for certain, of a kind, sorted.
func (m *memory) of(kind decide.Kind) []string {
	var ids []string
	for id, each := range m.suspects {
		if each.kind == kind && each.counts() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (m *memory) count(kind decide.Kind) int { return len(m.of(kind)) }

// pulse notes that somebody looks after this ProviderConfig, and doubts where that
// follows a long break or shows very many orphans.
func (r *Reconciler) pulse(p *pass) {
	if !p.deletes() {
		// Opting in again is an answer to every doubt.
		p.memory.looks = decide.Looks{}
		return
	}
	longest := max(leastBreak, breakIntervals*r.interval())
	p.memory.looks = p.memory.looks.Next(p.now.Truncate(time.Second), longest, p.memory.many,
		p.config.Annotations[computev1.ConfirmOrphanDeletionAnnotation])
}

// publish tells what is known now.
func (r *Reconciler) publish(p *pass) {
	m := p.memory
	found := finding.Finding{
		ProviderConfig: p.config.UID,
		Complete:       m.lists >= decide.ListsNeeded,
		Orphans:        m.of(decide.Orphan),
		Duplicates:     m.of(decide.Duplicate),
		Retained:       m.retained,
		Hold:           m.hold,
		Looks:          m.looks,
	}
	r.Findings.Set(client.ObjectKeyFromObject(p.config), found)
}
