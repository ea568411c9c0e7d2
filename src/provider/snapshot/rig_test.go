package snapshot_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
)

var aws = types.NamespacedName{Namespace: "team", Name: "aws"}

const (
	interval = 30 * time.Second
	brisk    = 2 * time.Second
	pageSize = 3
)

// rig is an Observer of one provider in a time that only the test moves.
type rig struct {
	t        *testing.T
	now      time.Time
	provider *fake.Provider
	entry    registry.Entry
	registry *registry.Registry
	observer *snapshot.Observer

	mu   sync.Mutex
	told []bool
}

func newRig(t *testing.T, vms int) *rig {
	t.Helper()
	r := &rig{
		t: t, now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), registry: registry.New(),
		provider: fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning, PageSize: pageSize}),
	}
	for i := range vms {
		r.provider.Put(provider.Machine{Phase: provider.PhaseRunning, Memory: "4Gi", Labels: map[string]string{"a": "b"}}, fmt.Sprint("key-", i))
	}
	r.observer = snapshot.New(r.registry, brisk, func() time.Time { return r.now })
	r.observer.Listen(func(_ types.NamespacedName, first bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, first)
	})
	r.entry = registry.Entry{State: registry.Ready, Client: r.provider, Capabilities: fake.Full(), PollInterval: interval}
	r.registry.Set(aws, r.entry)
	return r
}

// pass makes a pass, and returns when the next one is due.
func (r *rig) pass() time.Duration {
	r.t.Helper()
	return r.passWith(r.t.Context())
}

func (r *rig) passWith(ctx context.Context) time.Duration {
	r.t.Helper()
	return r.observer.Look(ctx, aws)
}

func (r *rig) calls() int { return r.provider.Counts()[provider.OperationList] }

func (r *rig) wantCalls(want int) {
	r.t.Helper()
	if got := r.calls(); got != want {
		r.t.Errorf("%d calls, want %d", got, want)
	}
}

// soon reports whether a wait is an interval, up to a tenth shorter or longer.
func soon(wait, interval time.Duration) bool { return wait >= interval*9/10 && wait <= interval*11/10 }
