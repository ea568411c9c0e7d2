package scene

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

// Requests are the calls about the scene's objects that have come to the provider,
// in order, each with its VM's key. The ledger has the keys of all POSTs, even
// where the provider makes nothing of them.
func (s *Scene) Requests(ctx context.Context) ([]mockprovider.Request, error) {
	all, err := s.Provider.Requests(ctx)
	keys := map[string]string{}
	for i := range all {
		if all[i].Key == "" {
			all[i].Key = keys[all[i].ID]
		}
		keys[all[i].ID] = all[i].Key
	}
	return slices.DeleteFunc(all, func(request mockprovider.Request) bool {
		return !slices.Contains(s.UIDs, ownerOf(request))
	}), err
}

func ownerOf(request mockprovider.Request) types.UID {
	uid, _, _ := strings.Cut(request.Key, "/")
	return types.UID(uid)
}

// AwaitRequests waits until the ledger tells of something.
func (s *Scene) AwaitRequests(what string, has func([]mockprovider.Request) bool) {
	s.T.Helper()
	operator.WaitFor(s.T, what+" in "+s.Namespace, func(ctx context.Context) bool {
		all, err := s.Requests(ctx)
		return err == nil && has(all)
	})
}

// AwaitMachines waits until the provider has a number of the scene's VMs, and
// returns their ids.
func (s *Scene) AwaitMachines(number int) []string {
	s.T.Helper()
	var found []string
	s.AwaitRequests(fmt.Sprintf("%d VMs", number), func(all []mockprovider.Request) bool {
		found = live(all)
		return len(found) == number
	})
	return found
}

// AwaitAnswered waits until a number of calls of an operation were answered.
func (s *Scene) AwaitAnswered(operation provider.Operation, number int) {
	s.T.Helper()
	s.AwaitRequests(fmt.Sprintf("%d answered calls of %s", number, operation), func(all []mockprovider.Request) bool {
		return answered(all, operation) >= number
	})
}

// AwaitCalls waits until a number of calls that match have come through a proxy
// and were answered, whether or not somebody got the answer.
func (s *Scene) AwaitCalls(proxy *interpose.Proxy, what string, number int, matches func(interpose.Call) bool) {
	s.T.Helper()
	s.await(proxy, what, number, func(entry interpose.Entry) bool { return matches(entry.Call) && entry.Status != 0 })
}

// AwaitEntry waits until a call has become what is wanted.
func (s *Scene) AwaitEntry(proxy *interpose.Proxy, what string, matches func(interpose.Entry) bool) {
	s.T.Helper()
	s.await(proxy, what, 1, matches)
}

func (s *Scene) await(proxy *interpose.Proxy, what string, number int, matches func(interpose.Entry) bool) {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), operator.Patience)
	defer cancel()
	err := proxy.Record().Await(ctx, func(all []interpose.Entry) bool { return count(all, matches) >= number })
	if err != nil {
		s.T.Fatalf("waiting for %s in %s: %v", what, s.Namespace, err)
	}
}

func count(all []interpose.Entry, matches func(interpose.Entry) bool) int {
	found := 0
	for _, entry := range all {
		if matches(entry) {
			found++
		}
	}
	return found
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

// WantOneAtATime fails if an object has ever had two VMs.
func (s *Scene) WantOneAtATime() {
	s.T.Helper()
	all, err := s.Requests(s.T.Context())
	if err != nil {
		s.T.Fatal(err)
	}
	follow(all, func(now map[types.UID][]string) {
		for owner, machines := range now {
			if len(machines) > 1 {
				s.T.Errorf("%s had the VMs %v at once", owner, machines)
			}
		}
	})
}

// WantPOSTs fails unless just so many POSTs have come to the provider.
func (s *Scene) WantPOSTs(want int) {
	s.T.Helper()
	all, err := s.Requests(s.T.Context())
	if err != nil {
		s.T.Fatal(err)
	}
	if got := answered(all, provider.OperationCreate); got != want {
		s.T.Errorf("%d POSTs have come from %s, want %d: %+v", got, s, want, all)
	}
}

// looks is for how many looks at a VM nothing may be written.
const looks = 3

// WantCalm waits for some more looks at the VM, and fails if anything is written
// meanwhile.
func (s *Scene) WantCalm() {
	s.T.Helper()
	// A pass looks before it writes: only when the next but one looks, the next has
	// ended.
	s.AwaitLooks(2)
	before := s.changes()
	s.AwaitLooks(looks)
	if after := s.changes(); len(after) > len(before) {
		s.T.Errorf("%s is settled, and yet: %v", s, after[len(before):])
	}
}

// AwaitLooks waits for a number of further looks at the VM that the status names, be
// it by a list of all VMs.
func (s *Scene) AwaitLooks(more int) {
	s.T.Helper()
	vm, err := s.Get(s.T.Context())
	if err != nil {
		s.T.Fatal(err)
	}
	s.AwaitFurther("looks at the VM", more, func(call interpose.Call) bool {
		return call.Is(provider.OperationList) || call.Is(provider.OperationGet) && call.ID == vm.Status.ID
	})
}

// AwaitFurther waits for a number of further calls that match.
func (s *Scene) AwaitFurther(what string, more int, matches func(interpose.Call) bool) {
	s.T.Helper()
	before := count(s.Door.Record().Entries(), func(entry interpose.Entry) bool { return matches(entry.Call) })
	s.AwaitCalls(s.Door, what, before+more, matches)
}

// changes are the calls that may have changed something.
func (s *Scene) changes() []interpose.Entry {
	var found []interpose.Entry
	for _, proxy := range append([]*interpose.Proxy{s.Door}, s.Fronts...) {
		for _, entry := range proxy.Record().Entries() {
			ours := entry.Kind == interpose.Provider || entry.Kind == interpose.Object && entry.Namespace == s.Namespace
			if ours && entry.Mutating {
				found = append(found, entry)
			}
		}
	}
	return found
}
