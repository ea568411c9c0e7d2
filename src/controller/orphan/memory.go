package orphan

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/orphan/decide"
	"github.com/example/vmoperator/src/controller/owner"
)

// memory is what this process remembers of one ProviderConfig's VMs. Forgetting it
// makes every orphan a new one, which is the safe side.
type memory struct {
	// uid is the object's: a new one of the same name begins anew.
	uid types.UID
	// due is when to list next.
	due time.Time
	// cause is what the last list was made for.
	cause cause
	// listing is a list that was asked for; nil between lists.
	listing *listing
	// lists counts the complete lists, up to decide.ListsNeeded.
	lists int
	// suspects are the VMs without an object, and the second ones of an object, that
	// the last complete list showed, by id.
	suspects map[string]*suspect
	// retained is how many VMs of the last complete list were left on purpose.
	retained int
	// many: the last complete list showed very many orphans.
	many bool
	// hold is what spoke against deletions at the last complete list.
	hold decide.Hold
	// looks is how they were looked after.
	looks decide.Looks
	// queue are the ids to delete until the next list.
	queue []string
}

// cause is what makes a list due at once when it changes: what a person says.
type cause struct {
	generation      int64
	paused, confirm string
}

func causeOf(config *computev1.ProviderConfig) cause {
	return cause{
		generation: config.Generation,
		paused:     config.Annotations[computev1.PausedAnnotation],
		confirm:    config.Annotations[computev1.ConfirmOrphanDeletionAnnotation],
	}
}

// suspect is a VM that seems to be nobody's.
type suspect struct {
	id    string
	kind  decide.Kind
	owner owner.Owner
	// leaving: the provider is deleting it.
	leaving bool
	// since is when the first of the lists in a row showed it, and lists how many they
	// are.
	since time.Time
	lists int
}

// counts reports whether enough lists have shown the VM.
func (s *suspect) counts() bool { return s.lists >= decide.ListsNeeded }

// interrupt forgets what must happen in one go.
func (m *memory) interrupt() { m.listing, m.queue = nil, nil }

// nothing forgets what was found, for nothing can be.
func (m *memory) nothing() {
	m.interrupt()
	m.suspects, m.retained, m.many, m.lists = nil, 0, false, decide.ListsNeeded
}

// memories holds those of all ProviderConfigs. The zero value is ready for use.
type memories struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]*memory
}

// of returns the memory of an object. A new one takes from the status how orphans
// were looked after before this process.
func (m *memories) of(config *computev1.ProviderConfig) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := types.NamespacedName{Namespace: config.Namespace, Name: config.Name}
	found := m.byKey[key]
	if found == nil || found.uid != config.UID {
		found = &memory{uid: config.UID, looks: looksOf(config.Status.Orphans)}
		if m.byKey == nil {
			m.byKey = map[types.NamespacedName]*memory{}
		}
		m.byKey[key] = found
	}
	return found
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}

func looksOf(status *computev1.ProviderOrphansStatus) decide.Looks {
	if status == nil {
		return decide.Looks{}
	}
	looks := decide.Looks{LookedAt: status.LookedAt.Time}
	if status.DoubtedAt != nil {
		looks.DoubtedAt = status.DoubtedAt.Time
	}
	return looks
}
