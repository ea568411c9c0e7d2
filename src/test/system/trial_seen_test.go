package system

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/faults"
	"github.com/example/vmoperator/src/test/mockprovider"
)

// asked are the operator's calls for the VM, but for those of before its key or id
// was sent.
func (tr *trial) asked() []mockprovider.Request {
	tr.t.Helper()
	return tr.own(requests(tr.t, tr.p))
}

func (tr *trial) own(all []mockprovider.Request) []mockprovider.Request {
	var found []mockprovider.Request
	ids := map[string]bool{}
	for _, request := range all {
		if request.RequestID == mockprovider.RequestIDOfPerson || !strings.Contains(request.Key, tr.uid) && !ids[request.ID] {
			continue
		}
		if request.Operation == "create" && request.ID != "" {
			ids[request.ID] = true
		}
		found = append(found, request)
	}
	return found
}

// failing are the calls of the row's kind since the failure began, one for each
// look at the object: a GET whose connection breaks is repeated by net/http.
func (tr *trial) failing(all []mockprovider.Request) []mockprovider.Request {
	tr.t.Helper()
	const most = 2
	mayRepeat := tr.row.During == faults.Looking || tr.row.During == faults.Finding
	var looks []mockprovider.Request
	count := map[string]int{}
	for _, request := range tr.own(all)[tr.calls:] {
		if request.Operation != tr.row.During.Operation() {
			continue
		}
		if count[request.RequestID]++; count[request.RequestID] == 1 {
			looks = append(looks, request)
		}
		if count[request.RequestID] > most && !mayRepeat {
			tr.t.Fatalf("more than %d calls of %s in one look", most, request.Operation)
		}
	}
	return looks
}

// slack is for clocks that are read in milliseconds, and set while a test runs.
const slack = 50 * time.Millisecond

// paced fails unless the failed call is repeated as the row says. No call can come
// too early on a slow machine, for a wait begins after the provider has entered
// the call before it.
func (tr *trial) paced(m *metronome) {
	tr.t.Helper()
	switch tr.row.Pace {
	case faults.Backoff:
		tr.spaced(time.Second, 2*time.Second)
	case faults.AfterPause:
		tr.paused()
	case faults.Once:
		tr.poke(&computev1.VirtualMachine{ObjectMeta: tr.meta(tr.name)})
		tr.silent(m)
	case faults.Hourly, faults.Capped:
		tr.silent(m)
	case faults.Passing:
	}
}

// paused fails if the provider is asked before the pause is over. A date may be
// over when the operator hears of it.
func (tr *trial) paused() {
	tr.t.Helper()
	if tr.date.IsZero() {
		tr.spaced(tr.row.Pause)
		return
	}
	calls := tr.spaced(0)
	if calls[0].Time.Before(tr.date) && calls[1].Time.Add(slack).Before(tr.date) {
		tr.t.Errorf("asked at %s, and at %s, want nothing before %s", calls[0].Time, calls[1].Time, tr.date)
	}
}

// spaced waits for one call more than there are gaps, and fails if one is shorter.
func (tr *trial) spaced(gaps ...time.Duration) []mockprovider.Request {
	tr.t.Helper()
	var failing []mockprovider.Request
	awaitRequests(tr.t, tr.p, fmt.Sprintf("%d calls of %s", len(gaps)+1, tr.row.During.Operation()), func(all []mockprovider.Request) bool {
		failing = tr.failing(all)
		return len(failing) > len(gaps)
	})
	for i, least := range gaps {
		if gap := failing[i+1].Time.Sub(failing[i].Time); gap+slack < least {
			tr.t.Errorf("call %d of %s came %s after the one before, want at least %s", i+2, tr.row.During.Operation(), gap, least)
		}
	}
	return failing
}

// silent fails if the failed call is repeated at all.
func (tr *trial) silent(m *metronome) {
	tr.t.Helper()
	tr.spaced()
	before := len(tr.failing(requests(tr.t, tr.p)))
	m.wait(tr.t, calmBeats)
	if after := len(tr.failing(requests(tr.t, tr.p))); after != before {
		tr.t.Errorf("%d calls of %s, and %d beats later %d", before, tr.row.During.Operation(), calmBeats, after)
	}
}

// made are the ids of all VMs that were made for the object.
func (tr *trial) made() []string {
	tr.t.Helper()
	var ids []string
	for _, request := range tr.asked() {
		if request.Operation == "create" && request.Effect {
			ids = append(ids, request.ID)
		}
	}
	return ids
}

// told are the reasons of all events about the VirtualMachine, in their order, as
// the log has them: the apiserver joins events that are alike.
func (tr *trial) told() []string {
	var reasons []string
	for _, line := range tr.operator.Lines(`"controller":"virtualmachine"`, `"namespace":"`+tr.namespace+`"`, `"name":"`+tr.name+`"`) {
		var said struct {
			Msg    string `json:"msg"`
			Reason string `json:"reason"`
		}
		if json.Unmarshal([]byte(line), &said) == nil && said.Reason != "" && said.Msg != "decided" {
			reasons = append(reasons, said.Reason)
		}
	}
	return reasons
}

// normal are the reasons of events that warn of nothing.
var normal = []string{"Created", "Adopted", "Applied", "Resized", "Deleting", "Deleted", "Running"}

// check compares what was told, asked and made with the row.
func (tr *trial) check() {
	tr.t.Helper()
	warned := map[string]int{}
	for _, reason := range tr.told()[tr.lines:] {
		if !slices.Contains(normal, reason) {
			warned[reason]++
		}
	}
	if !maps.Equal(warned, tr.row.Warns) {
		tr.t.Errorf("warnings: %v, want %v", warned, tr.row.Warns)
	}
	if tr.row.Warns[retained] > 0 {
		tr.world.told(vmKind, tr.name, corev1.EventTypeWarning, retained)
	}
	calls := countOf(tr.asked())
	for operation, want := range tr.row.Calls {
		if calls[operation] != want {
			tr.t.Errorf("%d calls of %s, want %d", calls[operation], operation, want)
		}
	}
	if made := tr.made(); len(made) != tr.row.VMs {
		tr.t.Errorf("the VMs %v were made, want %d", made, tr.row.VMs)
	}
}
