package recorder

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

const patience = time.Minute

// sink keeps what it is sent.
type sink struct {
	mu      sync.Mutex
	created map[string]int
	patched int
}

func (s *sink) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created[event.Regarding.Name]++
	return event, nil
}

func (*sink) Update(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return event, nil
}

func (s *sink) Patch(_ context.Context, event *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.patched++
	return event, nil
}

func (s *sink) counts() (created, patched int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.created), s.patched
}

func object(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name)}}
}

// retired are broadcasters that were replaced, and are not ended yet.
type retired []func()

func newRecorder() (*Recorder, *sink, *retired) {
	to, old := &sink{created: map[string]int{}}, &retired{}
	r := New(to, clientgoscheme.Scheme, "vmoperator", logr.Discard())
	r.after = func(_ time.Duration, end func()) { *old = append(*old, end) }
	return r, to, old
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, patience, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestEveryEventIsSentOnceAndFewAreRemembered(t *testing.T) {
	t.Parallel()
	r, to, old := newRecorder()
	const all = 2*most + most/2
	for i := range all {
		r.Eventf(object(fmt.Sprint("web-", i)), nil, corev1.EventTypeNormal, "Created", "Reconcile", "VM vm-%d created", i)
	}
	eventually(t, "all events", func() bool { created, _ := to.counts(); return created == all })
	if len(*old) != 2 || r.current.given != most/2 {
		t.Errorf("%d broadcasters were replaced, and the last was given %d events", len(*old), r.current.given)
	}
	for _, end := range *old {
		end()
	}
	r.Eventf(object("last"), nil, corev1.EventTypeNormal, "Created", "Reconcile", "")
	eventually(t, "an event after the end of others", func() bool { created, _ := to.counts(); return created == all+1 })
	for name, count := range to.created {
		if count != 1 {
			t.Errorf("the event about %s was sent %d times", name, count)
		}
	}
	r.current.end()
}

func TestEventsThatTellTheSameAreJoined(t *testing.T) {
	t.Parallel()
	r, to, _ := newRecorder()
	tell := func() {
		r.Eventf(object("web"), nil, corev1.EventTypeWarning, "ProviderError", "Reconcile", "the provider failed")
	}
	tell()
	eventually(t, "the event", func() bool { created, _ := to.counts(); return created == 1 })
	tell()
	eventually(t, "its repetition", func() bool { _, patched := to.counts(); return patched == 1 })
	if created, _ := to.counts(); created != 1 {
		t.Errorf("%d events", created)
	}
	r.current.end()
}
