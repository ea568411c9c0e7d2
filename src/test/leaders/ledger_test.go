package leaders

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
)

// requests are the calls about the scene's objects that have come to the provider,
// in order, each with its VM's key. The ledger has the keys of all POSTs, even
// where the provider makes nothing of them.
func (s *scene) requests(ctx context.Context) ([]mockprovider.Request, error) {
	all, err := s.provider.Requests(ctx)
	keys := map[string]string{}
	for i := range all {
		if all[i].Key == "" {
			all[i].Key = keys[all[i].ID]
		}
		keys[all[i].ID] = all[i].Key
	}
	return slices.DeleteFunc(all, func(request mockprovider.Request) bool {
		return !slices.Contains(s.uids, ownerOf(request))
	}), err
}

func ownerOf(request mockprovider.Request) types.UID {
	uid, _, _ := strings.Cut(request.Key, "/")
	return types.UID(uid)
}

// awaitRequests waits until the ledger tells of something.
func (s *scene) awaitRequests(what string, has func([]mockprovider.Request) bool) {
	s.t.Helper()
	operator.WaitFor(s.t, what+" in "+s.namespace, func(ctx context.Context) bool {
		all, err := s.requests(ctx)
		return err == nil && has(all)
	})
}

// awaitMachines waits until the provider has a number of the scene's VMs, and
// returns their ids.
func (s *scene) awaitMachines(number int) []string {
	s.t.Helper()
	var found []string
	s.awaitRequests(fmt.Sprintf("%d VMs", number), func(all []mockprovider.Request) bool {
		found = live(all)
		return len(found) == number
	})
	return found
}

// awaitAnswered waits until a number of calls of an operation were answered.
func (s *scene) awaitAnswered(operation provider.Operation, number int) {
	s.t.Helper()
	s.awaitRequests(fmt.Sprintf("%d answered calls of %s", number, operation), func(all []mockprovider.Request) bool {
		return answered(all, operation) >= number
	})
}

// awaitCalls waits until a number of calls that match have come through a proxy
// and were answered, whether or not somebody got the answer.
func (s *scene) awaitCalls(proxy *interpose.Proxy, what string, number int, matches func(interpose.Call) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), operator.Patience)
	defer cancel()
	err := proxy.Record().Await(ctx, func(all []interpose.Entry) bool {
		count := 0
		for _, entry := range all {
			if matches(entry.Call) && entry.Status != 0 {
				count++
			}
		}
		return count >= number
	})
	if err != nil {
		s.t.Fatalf("waiting for %s in %s: %v", what, s.namespace, err)
	}
}

func answered(all []mockprovider.Request, operation provider.Operation) int {
	count := 0
	for _, request := range all {
		if request.Operation == string(operation) && request.Status != 0 {
			count++
		}
	}
	return count
}

// live are the ids of the VMs that there are at the end of a ledger.
func live(all []mockprovider.Request) []string {
	var ids []string
	follow(all, func(now map[types.UID][]string) {
		ids = nil
		for _, machines := range now {
			ids = append(ids, machines...)
		}
	})
	return ids
}

// follow shows, after every entry of a ledger that had an effect, the VMs that
// each object has.
func follow(all []mockprovider.Request, show func(map[types.UID][]string)) {
	now := map[types.UID][]string{}
	for _, request := range all {
		if !request.Effect {
			continue
		}
		owner := ownerOf(request)
		switch request.Operation {
		case "create":
			now[owner] = append(now[owner], request.ID)
		case "delete":
			now[owner] = slices.DeleteFunc(now[owner], func(id string) bool { return id == request.ID })
		}
		show(now)
	}
}

// wantOneAtATime fails if an object has ever had two VMs.
func (s *scene) wantOneAtATime() {
	s.t.Helper()
	all, err := s.requests(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	follow(all, func(now map[types.UID][]string) {
		for owner, machines := range now {
			if len(machines) > 1 {
				s.t.Errorf("%s had the VMs %v at once", owner, machines)
			}
		}
	})
}

// wantPOSTs fails unless just so many POSTs have come to the provider.
func (s *scene) wantPOSTs(want int) {
	s.t.Helper()
	all, err := s.requests(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if got := answered(all, provider.OperationCreate); got != want {
		s.t.Errorf("%d POSTs have come from %s, want %d: %+v", got, s, want, all)
	}
}

// looks is for how many looks at a VM nothing may be written.
const looks = 3

// wantCalm waits for some more looks at the VM, and fails if anything is written
// meanwhile.
func (s *scene) wantCalm() {
	s.t.Helper()
	before := s.changes()
	s.awaitLooks(looks)
	if after := s.changes(); len(after) > len(before) {
		s.t.Errorf("%s is settled, and yet: %v", s, after[len(before):])
	}
}

// awaitLooks waits for a number of further looks at the VM.
func (s *scene) awaitLooks(more int) {
	s.t.Helper()
	isLook := func(call interpose.Call) bool { return call.Is(provider.OperationGet) }
	before := 0
	for _, entry := range s.door.Record().Entries() {
		if isLook(entry.Call) {
			before++
		}
	}
	s.awaitCalls(s.door, "looks at the VM", before+more, isLook)
}

// changes are the calls that may have changed something, of either operator.
func (s *scene) changes() []interpose.Entry {
	var found []interpose.Entry
	for _, proxy := range []*interpose.Proxy{s.pair.front, s.pair.back, s.door} {
		for _, entry := range proxy.Record().Entries() {
			ours := entry.Kind == interpose.Provider || entry.Kind == interpose.Object && entry.Namespace == s.namespace
			if ours && entry.Mutating {
				found = append(found, entry)
			}
		}
	}
	return found
}
