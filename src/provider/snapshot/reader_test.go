package snapshot_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

// reading is what a reader was given.
type reading struct {
	ids  []string
	ends []error
}

func (r *reading) Page(items []provider.Machine) {
	for _, machine := range items {
		r.ids = append(r.ids, machine.ID+" "+machine.Labels["a"])
	}
}

func (r *reading) Done(err error) { r.ends = append(r.ends, err) }

func TestAReaderTakesInAWholeListThatIsMadeAnyway(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	r.provider.Inject(fake.Fault{Op: provider.OperationList, Skip: 1, Class: provider.Throttled, RetryAfter: time.Second})
	r.pass()
	late := &reading{}
	r.observer.Read(aws, late)
	r.now = r.now.Add(time.Second)
	r.pass()
	if len(late.ids)+len(late.ends) > 0 {
		t.Errorf("a list that was begun before is given: %+v", late)
	}
	r.pass()
	r.wantCalls(3)
	r.now = r.now.Add(interval * 11 / 10)
	r.pass()
	r.wantCalls(5)
	if diff := cmp.Diff([]string{"vm-1 b", "vm-2 b", "vm-3 b", "vm-4 b"}, late.ids); diff != "" || len(late.ends) != 1 || late.ends[0] != nil {
		t.Errorf("%s, ends: %v", diff, late.ends)
	}
	r.now = r.now.Add(interval * 11 / 10)
	r.pass()
	if len(late.ids) != 4 || len(late.ends) != 1 {
		t.Errorf("a second list is given: %+v", late)
	}
}

func TestAReaderIsWorthAListWhereNoVMAsksForOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.entry.State = registry.Idle
	r.registry.Set(aws, r.entry)
	r.pass()
	r.wantCalls(0)
	reader := &reading{}
	r.observer.Read(aws, reader)
	r.pass()
	r.wantCalls(1)
	if len(reader.ids) != 2 || len(reader.ends) != 1 || reader.ends[0] != nil {
		t.Errorf("%+v", reader)
	}
	r.now = r.now.Add(2 * interval)
	r.pass()
	r.wantCalls(1)
}

func TestAReaderHearsOfAListThatProvesNothing(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*rig){
		"it fails": func(r *rig) { r.provider.Inject(fake.Fault{Op: provider.OperationList, Class: provider.Transient}) },
		"the provider cannot be used any more": func(r *rig) {
			r.entry.State = registry.NotReady
			r.registry.Set(aws, r.entry)
		},
		"the way to it has changed": func(r *rig) {
			r.entry.Client = &struct{ *fake.Provider }{r.provider}
			r.registry.Set(aws, r.entry)
		},
	} {
		r := newRig(t, 4)
		r.provider.Inject(fake.Fault{Op: provider.OperationList, Skip: 1, Class: provider.Throttled, RetryAfter: time.Second})
		reader := &reading{}
		r.observer.Read(aws, reader)
		r.pass()
		change(r)
		r.pass()
		if len(reader.ends) != 1 || reader.ends[0] == nil {
			t.Errorf("%s: %+v", what, reader)
		}
	}
	r := newRig(t, 2)
	r.entry.State = registry.NotReady
	r.registry.Set(aws, r.entry)
	reader := &reading{}
	r.observer.Read(aws, reader)
	r.pass()
	if len(reader.ends) != 1 || reader.ends[0] == nil {
		t.Errorf("nothing is listed: %+v", reader)
	}
}
