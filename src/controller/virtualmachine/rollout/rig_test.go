package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

// rig is Rollouts with everything around them, in a bubble of time.
type rig struct {
	*Rollouts

	t        *testing.T
	config   types.NamespacedName
	registry *registry.Registry
	members  Members
	failures int
	listed   bool
	queue    *line
}

// line is a queue that only grows.
type line struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	mu        sync.Mutex
	few, rest []types.NamespacedName
}

func (l *line) Add(request reconcile.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.few = append(l.few, request.NamespacedName)
}

func (l *line) AddWithOpts(options priorityqueue.AddOpts, requests ...reconcile.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *options.Priority != handler.LowPriority {
		panic("unexpected priority")
	}
	for _, request := range requests {
		l.rest = append(l.rest, request.NamespacedName)
	}
}

// take waits until nothing happens any more, and returns what was added.
func (l *line) take() (few, rest []types.NamespacedName) {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	few, rest = l.few, l.rest
	l.few, l.rest = nil, nil
	return few, rest
}

// rigged runs a test with the source started, for a fleet of so many.
func rigged(t *testing.T, count int, test func(*rig), changes ...func(*rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{
			t: t, config: types.NamespacedName{Namespace: "team", Name: t.Name()},
			registry: registry.New(), members: Members{First: vms("web", count)}, queue: &line{},
		}
		r.Rollouts = New(Options{Registry: r.registry, Now: time.Now, Members: r.read})
		for _, change := range changes {
			change(r)
		}
		if err := r.Source().Start(t.Context(), r.queue); err != nil {
			t.Fatal(err)
		}
		test(r)
	})
}

func (r *rig) read(context.Context, types.NamespacedName) (Members, error) {
	if r.failures > 0 {
		r.failures--
		return Members{}, errors.New("the cache is not there yet")
	}
	return r.members, nil
}

// lists makes the provider one whose VMs are looked for in a list.
func lists(r *rig) {
	r.options.Listed = func(types.NamespacedName, int64) bool { return r.listed }
}

// ready sets an entry that leads to a provider by a way of its own.
func (r *rig) ready(changes ...func(*registry.Entry)) registry.Entry {
	entry := registry.Entry{
		State: registry.Ready, Client: fake.New(fake.Options{}), PollInterval: interval,
		Capabilities: provider.Capabilities{Offered: []string{provider.CapabilityList}},
	}
	for _, change := range changes {
		change(&entry)
	}
	r.registry.Set(r.config, entry)
	return r.registry.Get(r.config)
}

func (r *rig) pass(entry registry.Entry, verdict Verdict, vms []types.NamespacedName) {
	for _, vm := range vms {
		if !r.Admits(r.config, entry, vm) {
			r.t.Errorf("%s is held back", vm)
		}
		r.Report(r.config, entry.Revision, vm, verdict)
	}
}

func (r *rig) takes(wantFew, wantRest int) (few, rest []types.NamespacedName) {
	r.t.Helper()
	few, rest = r.queue.take()
	if len(few) != wantFew || len(rest) != wantRest {
		r.t.Fatalf("%d let in as the few and %d as the rest, want %d and %d", len(few), len(rest), wantFew, wantRest)
	}
	return few, rest
}

// takesBatch returns what was let in since, which is a batch at most: how much depends
// on when the source sees that those before have passed.
func (r *rig) takesBatch() []types.NamespacedName {
	r.t.Helper()
	last, rest := r.queue.take()
	if len(rest)+len(last) > Batch {
		r.t.Errorf("%d let in at once", len(rest)+len(last))
	}
	return slices.Concat(rest, last)
}

// heldBack is what the gauge shows of the ProviderConfig; empty if that is nothing.
func (r *rig) heldBack() string {
	r.t.Helper()
	gatherer := prometheus.NewRegistry()
	if err := metrics.Register(gatherer); err != nil {
		r.t.Fatal(err)
	}
	families, err := gatherer.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "vmoperator_providerconfig_held_back" && metric.GetLabel()[0].GetValue() == r.config.Name {
				return fmt.Sprint(metric.GetGauge().GetValue())
			}
		}
	}
	return ""
}

// wait lets the time of the bubble pass.
func (*rig) wait(duration time.Duration) { <-time.After(duration) }
