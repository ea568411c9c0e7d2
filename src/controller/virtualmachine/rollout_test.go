package virtualmachine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/rollout"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

const (
	// fleetSize is how many VMs are led through a changed way.
	fleetSize = 60
	// fewer are enough to have more than one few.
	fewer = 3 * rollout.Few
)

// wrongWay is a way on which no VM is met: every look fails like that, and no list
// shows any.
type wrongWay struct {
	*fake.Provider

	class provider.Class
	lists bool
}

func (w *wrongWay) Get(context.Context, string) (provider.Machine, error) {
	return provider.Machine{}, w.failure(provider.OperationGet)
}

func (w *wrongWay) List(context.Context, string) (provider.Page, error) {
	if w.lists {
		return provider.Page{}, nil
	}
	return provider.Page{}, w.failure(provider.OperationList)
}

func (w *wrongWay) FindByKey(context.Context, string) (provider.Machine, error) {
	return provider.Machine{}, w.failure(provider.OperationFind)
}

func (w *wrongWay) failure(op provider.Operation) error {
	return &provider.Error{Op: op, Class: w.class, Err: errors.New("this is not the provider that you know")}
}

func member(number int) string { return fmt.Sprintf("web-%d", number) }

// settledFleet makes so many VMs, and waits until nobody looks at them any more.
func settledFleet(t *testing.T, size int) *world {
	t.Helper()
	// On a busy machine a pass takes longer than the lease of other tests.
	w := newWorld(t, full(), func(w *world) { w.options.LeaseDuration = 10 * time.Second })
	w.set("default", slow(w))
	w.fleet(size)
	w.quiet()
	w.writes.reset()
	w.provider.Reset()
	return w
}

// troubled are those whose status tells of trouble.
func (w *world) troubled(size int) int {
	w.t.Helper()
	count := 0
	for number := range size {
		if !meta.IsStatusConditionTrue(w.get(member(number)).Status.Conditions, computev1.ConditionSynced) {
			count++
		}
	}
	return count
}

func TestAChangeThatLeadsNowhereStopsAtTheFew(t *testing.T) {
	for name, way := range map[string]wrongWay{
		"where no VM is known": {class: provider.NotFound, lists: true},
		"where all calls fail": {class: provider.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			w := settledFleet(t, fleetSize)
			before := map[string]computev1.VirtualMachineStatus{}
			for number := range fleetSize {
				before[member(number)] = w.get(member(number)).Status
			}
			bad := slow(w)
			way.Provider = w.provider
			bad.Client = &way
			w.set("default", bad)
			w.eventually(func() string {
				if got := w.troubled(fleetSize); got < rollout.Few {
					return fmt.Sprintf("%d VMs tell of trouble", got)
				}
				return ""
			})
			w.edit(member(fleetSize-1), func(vm *computev1.VirtualMachine) { vm.Spec.CPU = 4 })
			w.vm("new")
			w.awaitsPassesSince("new", 0, 1)
			w.awaitsMarkerRound()

			met := w.writes.passes()
			for number := range fleetSize - 1 {
				name := member(number)
				if diff := cmp.Diff(before[name], w.get(name).Status); met[name] == 0 && diff != "" {
					t.Errorf("the status of %s was changed:\n%s", name, diff)
				}
				if met[name] > 0 {
					delete(before, name)
				}
			}
			if got := fleetSize - len(before); got > rollout.Few {
				t.Errorf("%d VMs were looked at, want %d", got, rollout.Few)
			}
			if got := w.provider.Effects(); len(got) > 0 {
				t.Errorf("effects at the provider: %v", got)
			}
			w.set("default", slow(w))
			w.awaitsRunning("new")
			for number := range fleetSize {
				w.awaitsRunning(member(number))
			}
			w.eventually(func() string {
				if got := w.get(member(fleetSize - 1)).Status.CPU; got != 4 {
					return fmt.Sprintf("the edit is not followed: %d CPUs", got)
				}
				return ""
			})
			w.live(fleetSize + 1)
		})
	}
}

func TestAFleetThatAChangedWayDoesNotShowIsNotMadeAgain(t *testing.T) {
	w := settledFleet(t, fewer)
	bad := slow(w)
	bad.PollInterval = 100 * time.Millisecond
	bad.Client = &wrongWay{Provider: w.provider, class: provider.NotFound, lists: true}
	w.set("default", bad)
	w.eventually(func() string {
		if got := w.troubled(fewer); got < fewer {
			return fmt.Sprintf("%d VMs have vanished", got)
		}
		return ""
	})
	w.eventually(func() string {
		if !w.registry.Get(types.NamespacedName{Namespace: w.namespace, Name: "default"}).Lost {
			return "nobody was told that the VMs are lost"
		}
		return ""
	})
	w.awaitsPasses(member(0), 2)
	if got := w.provider.Effects(); len(got) > 0 {
		t.Errorf("effects at the provider: %v", got)
	}
}

func TestANewLeaderWritesNothingAndLeavesNobodyOut(t *testing.T) {
	w := settledFleet(t, fewer)
	versions := func() map[string]string {
		found := map[string]string{}
		for number := range fewer {
			found[member(number)] = w.get(member(number)).ResourceVersion
		}
		return found
	}
	before := versions()
	w.stop()
	w.provider.Reset()
	w.startManager()
	w.set("default", slow(w))
	for number := range fewer {
		w.eventually(func() string {
			if w.writes.passes()[member(number)] == 0 {
				return member(number) + " was not looked at"
			}
			return ""
		})
	}
	w.quiet()
	if diff := cmp.Diff(before, versions()); diff != "" {
		t.Errorf("somebody has written:\n%s", diff)
	}
	if got := w.provider.Counts(); got[provider.OperationGet] > 0 || got[provider.OperationList] == 0 || len(w.provider.Effects()) > 0 {
		t.Errorf("calls: %v", got)
	}
}
