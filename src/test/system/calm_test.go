package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/operator"
)

const (
	// beat is how often providers are probed in these tests, and settled VMs are
	// looked at. It is the least that a ProviderConfig may ask for.
	beat     = time.Second
	interval = 50 * time.Millisecond

	// A calm lasts for so many beats, and so many edits of every object.
	calmBeats = 3
	calmPokes = 1
	// maxPasses of one object during a calm: each edit may need two, and each beat
	// bring one. An object that is looked at again and again has hundreds.
	maxPasses = 2*calmPokes + 2*calmBeats + 4
)

// metronome is a provider that counts its probes. It tells time as the operator
// has it: when a busy machine stops the operator, it stops as well.
type metronome struct {
	probes atomic.Int32
}

// startMetronome makes the operator of a namespace probe once a beat.
func startMetronome(t *testing.T, namespace string) *metronome {
	t.Helper()
	m := &metronome{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.probes.Add(1)
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	create(t, builders.ProviderConfig(namespace, "metronome", server.URL, func(config *computev1.ProviderConfig) {
		config.Spec.PollInterval = &metav1.Duration{Duration: beat}
	}))
	return m
}

// wait returns after so many beats.
func (m *metronome) wait(t *testing.T, beats int32) {
	t.Helper()
	begin := m.probes.Load()
	operator.WaitFor(t, fmt.Sprintf("%d beats", beats), func(context.Context) bool { return m.probes.Load() >= begin+beats })
}

// staysCalm fails if, in a bounded number of edits and beats, the operator makes
// more calls than most allows, by operation, or looks at an object all the time.
// Operations that most does not name may not be called at all.
func (w *world) staysCalm(m *metronome, count func() map[string]int, most map[string]int, objects ...client.Object) {
	w.t.Helper()
	before, passes := count(), map[string]int{}
	for _, object := range objects {
		passes[w.passKey(object)] = w.passes(object)
	}
	for range calmPokes {
		for _, object := range objects {
			w.poke(object)
		}
	}
	m.wait(w.t, calmBeats)
	for operation, calls := range count() {
		if made := calls - before[operation]; made > most[operation] {
			w.t.Errorf("%d calls of %s in %d edits and %d beats, want at most %d", made, operation, calmPokes, calmBeats, most[operation])
		}
	}
	for _, object := range objects {
		if made := w.passes(object) - passes[w.passKey(object)]; made > maxPasses {
			w.t.Errorf("%T %s was looked at %d times in %d edits and %d beats", object, object.GetName(), made, calmPokes, calmBeats)
		}
	}
}

var pokes atomic.Int32

// poke makes the operator look at an object that has no news, and waits until it
// has: an annotation of ours always leads to a look.
func (w *world) poke(object client.Object) {
	w.t.Helper()
	before, news := w.passes(object), fmt.Sprintf("no %d", pokes.Add(1))
	change(w, object, func(object client.Object) {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[computev1.PausedAnnotation] = news
		object.SetAnnotations(annotations)
	})
	operator.WaitFor(w.t, "a look at "+object.GetName(), func(context.Context) bool { return w.passes(object) > before })
}

func (*world) passKey(object client.Object) string {
	return fmt.Sprintf("%T", object) + object.GetName()
}

// passes counts the reconciles of an object, as the log tells.
func (w *world) passes(object client.Object) int {
	controller := "virtualmachine"
	if _, ok := object.(*computev1.ProviderConfig); ok {
		controller = "providerconfig"
	}
	ids := map[string]bool{}
	for _, line := range w.operator.Lines(`"msg":"decided"`, `"controller":"`+controller+`"`, `"namespace":"`+w.namespace+`"`, `"name":"`+object.GetName()+`"`) {
		var pass struct {
			ID string `json:"reconcileID"`
		}
		if json.Unmarshal([]byte(line), &pass) == nil {
			ids[pass.ID] = true
		}
	}
	return len(ids)
}

// both are the objects that a world usually has.
func (w *world) both() []client.Object {
	return []client.Object{
		&computev1.VirtualMachine{ObjectMeta: w.meta("web")},
		&computev1.ProviderConfig{ObjectMeta: w.meta(computev1.DefaultProviderConfig)},
	}
}
