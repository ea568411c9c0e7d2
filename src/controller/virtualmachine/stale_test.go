package virtualmachine_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

func TestACacheThatStillShowsAReleasedObjectLeadsToNothing(t *testing.T) {
	const stale = 3
	var mu sync.Mutex
	last, served := &computev1.VirtualMachine{}, 0
	w := newWorld(t, full(), func(w *world) {
		w.read = func(vm *computev1.VirtualMachine, err error) error {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				vm.DeepCopyInto(last)
			case apierrors.IsNotFound(err) && served < stale:
				served++
				last.DeepCopyInto(vm)
				return nil
			}
			return err
		}
	})
	w.vm("web")
	w.awaitsRunning("web")
	w.eventually(func() string {
		if slices.Contains(w.writes.all(), "create EndpointSlice") {
			return ""
		}
		return "the last of the children is not made yet"
	})
	w.looksAgain("web")
	w.writes.reset()
	looks := w.provider.Counts()
	w.delete("web")
	w.eventually(func() string {
		mu.Lock()
		defer mu.Unlock()
		if served == stale {
			return ""
		}
		return fmt.Sprintf("%d stale reads of %d", served, stale)
	})
	w.awaitsPassesSince("web", 0, stale+2)
	if got := w.writes.all(); !slices.Equal(got, []string{"patch VirtualMachine"}) {
		t.Errorf("writes: %v, want the one that takes the finalizer off", got)
	}
	if got := w.calls(provider.OperationGet) - looks[provider.OperationGet]; got > 2 {
		t.Errorf("%d GETs for a deletion, want at most 2", got)
	}
}
