package orphan_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/orphan"
	"github.com/example/vmoperator/src/controller/orphan/decide"
	"github.com/example/vmoperator/src/controller/owner"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/test/builders"
)

func TestAnOrphanIsDeletedOnceItIsCertainAndOldWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	kept := w.vm("kept")
	lost := w.orphan("lost")
	w.look()
	begun := w.clock.Now()
	w.look()
	w.says(w.shows(computev1.ReasonOrphansPending), lost, "minimumAge")
	for w.clock.Now().Sub(begun) < 40*time.Minute {
		w.look()
	}
	w.wantDeleted()
	w.look()
	w.look()
	w.wantDeleted(lost)
	w.look()
	w.shows("")
	w.says(w.told(orphan.EventOrphanDeleted, 1)[0], lost, "VirtualMachine lost")
	w.told(orphan.EventOrphanFound, 1)
	if live := w.provider.Live(); len(live) != 1 || live[0].ID != kept.Status.ID {
		t.Errorf("%v is left", live)
	}
	if at := w.config().Status.Orphans; at == nil || at.DoubtedAt != nil {
		t.Errorf("status.orphans is %v", at)
	}
}

// A list that is not complete proves nothing, neither the first nor the last.
func TestAListThatIsNotCompleteProvesNothing(t *testing.T) {
	t.Parallel()
	for what, hook := range map[string]func(provider.Page, error) (provider.Page, error){
		"an error after the first page": func(page provider.Page, err error) (provider.Page, error) {
			if page.Next == "" {
				return provider.Page{}, &provider.Error{Op: provider.OperationList, Class: provider.Transient, Err: context.DeadlineExceeded}
			}
			return page, err
		},
		"a VM that is listed twice": func(page provider.Page, err error) (provider.Page, error) {
			page.Items = append(page.Items, page.Items[0])
			return page, err
		},
		"a cursor that leads back": func(_ provider.Page, err error) (provider.Page, error) {
			return provider.Page{Next: "1"}, err
		},
		"an empty list": func(_ provider.Page, err error) (provider.Page, error) { return provider.Page{}, err },
		"none of the VMs that are known": func(page provider.Page, err error) (provider.Page, error) {
			page.Items = slices.DeleteFunc(page.Items, func(m provider.Machine) bool { return m.Name == "kept" })
			return page, err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, first, newProvider(), deletes)
			w.vm("kept")
			lost := w.stray("lost")
			w.stray("of-another", func(o *owner.Owner) { o.ProviderConfig = "another" })
			w.hookList(hook)
			w.looks()
			w.shows("")

			w.hookList(nil)
			w.look()
			w.look()
			w.shows(computev1.ReasonOrphansPending)
			w.hookList(hook)
			w.looks()
			w.shows(computev1.ReasonOrphansPending)
			w.wantDeleted()

			w.hookList(nil)
			w.look()
			w.wantDeleted(lost)
		})
	}
}

func TestNothingIsDeletedWhileSomethingSpeaksAgainstIt(t *testing.T) {
	t.Parallel()
	full := func(w *world) {
		config := w.config()
		before := config.DeepCopy()
		for i := range computev1.MaxRetained {
			config.Status.Retained = append(config.Status.Retained, computev1.RetainedVirtualMachine{UID: fmt.Sprint("uid-", i)})
		}
		w.must(w.on.kube.Status().Patch(w.t.Context(), config, client.MergeFrom(before)))
		w.ready()
	}
	for what, test := range map[string]struct {
		hold   func(*world)
		reason string
	}{
		"it is paused":                              {func(w *world) { w.annotate(computev1.PausedAnnotation, "true") }, computev1.ReasonOrphansHeld},
		"orphans are only to be reported":           {func(w *world) { w.edit(func(c *computev1.ProviderConfig) { c.Spec.Orphans = nil }) }, computev1.ReasonOrphansReported},
		"more may have been retained than recorded": {full, computev1.ReasonOrphansHeld},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, first, newProvider(), deletes)
			w.vm("kept")
			w.stray("lost")
			w.look()
			w.look()
			w.shows(computev1.ReasonOrphansPending)
			test.hold(w)
			w.looks()
			w.shows(test.reason)
			w.wantDeleted()
		})
	}
}

// The last look at the cluster is not through the cache, and comes after the last
// look at the VM.
func TestAnObjectThatComesIntoBeingBeforeTheDeletionKeepsItsVM(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	lost := w.stray("lost")
	w.hookGet(func(id string) {
		if id != lost {
			return
		}
		w.hookGet(nil)
		// Restored from a backup: another UID, with the record of the earlier object.
		vm := builders.VirtualMachine(w.namespace, "lost", func(vm *computev1.VirtualMachine) {
			earlier := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "lost", UID: "uid-of-lost"}}
			record := intent.New(earlier, 1, "fake", provider.CreateRequest{})
			metav1.SetMetaDataAnnotation(&vm.ObjectMeta, computev1.CreateIntentAnnotation, record.String())
		})
		w.must(w.on.kube.Create(w.t.Context(), vm))
	})
	w.looks()
	w.wantDeleted()
	w.shows("")
}

func TestAnOrphanIsDeletedThoughItsNameLivesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	again := w.vm("web")
	lost := w.stray("web", func(o *owner.Owner) { o.UID = types.UID("uid-of-the-earlier-one") })
	w.looks()
	w.wantDeleted(lost)
	if live := w.provider.Live(); len(live) != 1 || live[0].ID != again.Status.ID {
		t.Errorf("%v is left", live)
	}
}

// The list is a moment old when the deletion comes.
func TestAVMThatIsNotTheListedOneAnyMoreIsNotDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	lost := w.stray("lost")
	w.hookGet(func(id string) {
		if id == lost {
			w.provider.Change(lost, func(m *provider.Machine) { m.Labels = nil })
		}
	})
	w.looks()
	w.wantDeleted()
	w.shows("")
}

func TestAtMostAFewAreDeletedWithEachList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	var lost []string
	for _, vm := range []string{"a", "b", "c", "d"} {
		lost = append(lost, w.stray(vm))
	}
	w.look()
	for len(w.deleted()) == 0 && !t.Failed() {
		w.look()
	}
	w.wantDeleted(lost[:3]...)
	w.look()
	w.wantDeleted(lost...)
}

func TestAVMThatIsLeftOnPurposeIsNoOrphan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	vm := w.vm("left", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	w.delete(vm)
	retained := w.config().Status.Retained
	if len(retained) != 1 || retained[0] != (computev1.RetainedVirtualMachine{UID: string(vm.UID), Name: "left", ID: vm.Status.ID}) {
		t.Fatalf("status.retained is %v", retained)
	}
	w.ready()
	w.looks()
	w.shows("")
	w.wantDeleted()
	w.eventually("the gauge", func() string {
		if shown := gauge(t, w.namespace, "retained"); shown != 1 {
			return "it does not show one retained VM"
		}
		return ""
	})

	// Nor in another process, much later.
	w.restart(time.Minute)
	w.looks()
	w.shows("")
	w.wantDeleted()
}

func TestARestartBeginsTheMinimumAgeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	lost := w.stray("lost")
	for range 5 {
		w.look()
	}
	w.restart(time.Minute)
	for range 5 {
		w.look()
	}
	w.wantDeleted()
	w.look()
	w.look()
	w.wantDeleted(lost)
}

func TestAfterALongBreakAPersonIsAskedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	w.look()
	// A copy of this cluster, started from a backup, while the first goes on.
	w.restart(45 * time.Minute)
	made := w.stray("made-by-the-first")
	w.looks()
	message := w.shows(computev1.ReasonOrphansHeld)
	w.wantDeleted()
	doubted := w.config().Status.Orphans.DoubtedAt
	if doubted == nil {
		t.Fatal("status.orphans does not tell of the doubt")
	}
	confirmation := decide.Confirmation(doubted.Time)
	w.says(message, "backup", computev1.ConfirmOrphanDeletionAnnotation+"="+confirmation)

	// It is not forgotten, and another process asks the same.
	w.restart(time.Minute)
	w.looks()
	w.shows(computev1.ReasonOrphansHeld)
	w.annotate(computev1.ConfirmOrphanDeletionAnnotation, "2020-01-01T00:00:00Z")
	w.look()
	w.wantDeleted()
	w.annotate(computev1.ConfirmOrphanDeletionAnnotation, confirmation)
	w.look()
	w.wantDeleted(made)
}

func TestVeryManyOrphansAreDoubted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	for _, vm := range []string{"a", "b"} {
		w.stray(vm)
	}
	w.looks()
	w.says(w.shows(computev1.ReasonOrphansHeld), "2 VMs were made", "very many")
	w.wantDeleted()
}

// Pages and deletions wait for their turn, and go on where they were.
func TestACallThatWaitsForItsTurnGoesOnAfterIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, first, newProvider(), deletes)
	w.vm("kept")
	lost := w.stray("lost")
	w.stray("of-another", func(o *owner.Owner) { o.ProviderConfig = "another" })
	throttled := fake.Fault{Class: provider.Throttled, RetryAfter: time.Second, Op: provider.OperationList, Skip: 1}
	w.provider.Inject(throttled)
	before := w.provider.Counts()[provider.OperationList]
	w.look()
	w.goOn()
	if calls := w.provider.Counts()[provider.OperationList] - before; calls != 3 {
		t.Errorf("%d page calls for two pages, one of them throttled", calls)
	}
	throttled.Op, throttled.Skip = provider.OperationDelete, 0
	w.provider.Inject(throttled)
	for tries := 0; w.look() != time.Second && len(w.deleted()) == 0; tries++ {
		if tries == 10 {
			t.Fatal("nothing is to be deleted")
		}
	}
	w.wantDeleted()
	w.goOn()
	w.wantDeleted(lost)
}
