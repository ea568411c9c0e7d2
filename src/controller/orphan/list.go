package orphan

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/vmoperator/src/controller/owner"
	"github.com/example/vmoperator/src/provider"
)

// listing is what one list of a provider's VMs shows, as it comes.
type listing struct {
	// revision is the registry entry that the list was asked for through.
	revision int64
	// namespace and uid are the ProviderConfig's.
	namespace string
	uid       types.UID
	// wake is called when the list has ended.
	wake func()

	mu sync.Mutex
	// ids are all VMs that were listed.
	ids map[string]bool
	// ours are those with this ProviderConfig's labels, in the order of the list.
	ours  []kin
	ended bool
	err   error
}

// kin is a VM with this ProviderConfig's labels.
type kin struct {
	id    string
	owner owner.Owner
	phase provider.Phase
}

// Page implements snapshot.Reader.
func (l *listing) Page(items []provider.Machine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range items {
		machine := &items[i]
		l.ids[machine.ID] = true
		from, labelled := owner.Of(machine.Labels)
		if labelled && from.ProviderConfig == l.uid && from.Object.Namespace == l.namespace {
			l.ours = append(l.ours, kin{id: machine.ID, owner: from, phase: machine.Phase})
		}
	}
}

// Done implements snapshot.Reader.
func (l *listing) Done(err error) {
	l.mu.Lock()
	l.ended, l.err = true, err
	l.mu.Unlock()
	l.wake()
}

// outcome reports whether the list has ended, and the error of one that proves
// nothing.
func (l *listing) outcome() (ended bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended, l.err
}

// list returns the next list of the provider's VMs once it is complete, and nil
// until then. An error means that this list never will be.
func (r *Reconciler) list(p *pass) (*listing, error) {
	asked := p.memory.listing
	if asked == nil || asked.revision != p.entry.Revision {
		key := client.ObjectKeyFromObject(p.config)
		asked = &listing{
			revision: p.entry.Revision, namespace: p.config.Namespace, uid: p.config.UID,
			wake: func() { r.wake(key) }, ids: map[string]bool{},
		}
		p.memory.listing = asked
		r.Lists.Read(key, asked)
	}
	ended, err := asked.outcome()
	if !ended {
		return nil, nil
	}
	p.memory.listing = nil
	return asked, err
}

// failed forgets a list that cannot be completed: it proves nothing.
func (r *Reconciler) failed(ctx context.Context, p *pass, err error) {
	p.memory.listing = nil
	p.memory.due = p.now.Add(wait.Jitter(min(recheck, r.interval()), jitter))
	log.FromContext(ctx).Info("the list of VMs is not complete and proves nothing", "error", err.Error())
}
