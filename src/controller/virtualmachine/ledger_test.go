package virtualmachine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// ledger counts what the controller sends to the apiserver.
type ledger struct {
	mu     sync.Mutex
	writes []string
	looks  map[string]int
}

func (l *ledger) write(verb string, object client.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1.")
	l.writes = append(l.writes, verb+" "+kind)
}

func (l *ledger) look(object client.Object, key client.ObjectKey) {
	if _, ok := object.(*computev1.VirtualMachine); !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looks[key.Name]++
}

// all are the writes so far.
func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.writes)
}

func (l *ledger) passes() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.looks)
}

func (l *ledger) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes, l.looks = nil, map[string]int{}
}
