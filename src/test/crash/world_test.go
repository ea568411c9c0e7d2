package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/operator"
)

const (
	// patience is how long a state may take to come: long, for a loaded machine.
	patience = 3 * time.Minute
	interval = 100 * time.Millisecond
	// beats of the poll, from the last change on, make a calm: one more than the
	// intervals that lie between them.
	beats = 4
	// lateSettle is how long a provider says that a late POST may take where one is
	// tried: longer than a restart takes on any machine.
	lateSettle = 5 * time.Minute

	metronomePath = "/metronome/"
)

// world is one run: a namespace, a provider with a ledger, and an operator between
// two proxies.
type world struct {
	t         *testing.T
	namespace string
	kind      Kind
	// executable is the operator's.
	executable string
	// watched are the namespaces that the operator works in; the first one is its own.
	watched  []string
	fake     *fake.Provider
	auditor  *auditor
	saboteur *saboteur
	record   *interpose.Record
	kube     *interpose.Proxy
	cloud    *interpose.Proxy
	operator *operator.Operator
	// follower has the chronicle of a scenario that is about a Deployment.
	follower *follower
	// flags are further flags of the operator.
	flags []string
	// key is the API key that the provider asks for.
	key atomic.Pointer[string]

	// restarted is the number of the last call before the operator was started again;
	// -1 if it never was.
	restarted int
	// delivered is whether the late effect has been let go.
	delivered bool
	// asked are the create keys that a person has answered for.
	asked map[string]bool
	// abandoned is whether the object was deleted while it waited for a person.
	abandoned bool
}

func newWorld(t *testing.T, s scenario, kind Kind, point *Point, executable string) *world {
	t.Helper()
	w := &world{
		t: t, kind: kind, executable: executable, record: interpose.NewRecord(), restarted: -1, asked: map[string]bool{},
		fake: fake.New(optionsOf(s, kind, point)),
	}
	key := firstKey
	w.key.Store(&key)
	w.namespace = w.makeNamespace()
	w.watched = []string{w.namespace}
	if s.metronome {
		w.watched = []string{w.makeNamespace(), w.namespace}
	}
	if s.labeller {
		w.flags = []string{"--controllers=virtualmachine,providerconfig,labeller"}
	}
	w.auditor = &auditor{namespace: w.namespace, fake: w.fake, owners: map[string]string{}}
	w.auditor.watch()
	w.saboteur = newSaboteur(w.namespace, w.auditor.ownerOf, point)
	if s.workload() {
		w.follow(s.chronicle)
	}
	w.interpose()
	if s.metronome {
		w.startMetronome()
	}
	w.start()
	return w
}

func optionsOf(s scenario, kind Kind, point *Point) fake.Options {
	options := fake.Options{Phase: s.phase, SlowDelete: s.slowDelete}
	if options.Phase == "" {
		options.Phase = provider.PhaseRunning
	}
	if kind == Full {
		options.Capabilities = fake.Full()
		if point != nil && point.Mode == Late {
			options.Capabilities.Settle = lateSettle
		}
	}
	return options
}

func (w *world) makeNamespace() string {
	w.t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crash-"}}
	if err := kube.Create(w.t.Context(), made); err != nil {
		w.t.Fatal(err)
	}
	return made.Name
}

// interpose starts the proxies.
func (w *world) interpose() {
	w.t.Helper()
	apiserver, err := interpose.Apiserver(plane.Config, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	audited := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		apiserver.ServeHTTP(rw, r)
		if call := interpose.CallOf(r); call.Mutating && call.Resource == "virtualmachines" {
			w.auditor.audit() //nolint:contextcheck // the request's context ends with an operator that is killed
		}
	})
	mux := http.NewServeMux()
	mux.HandleFunc(metronomePath, http.NotFound) // a provider of the minimum
	mux.Handle("/", wire.RequireKey(wire.Handler(w.fake), func() string { return *w.key.Load() }))
	w.kube = w.proxy(interpose.Options{Who: "kube", Next: audited, Classify: interpose.Kubernetes})
	w.cloud = w.proxy(interpose.Options{Who: "provider", Next: mux, Classify: interpose.Contract})
}

func (w *world) proxy(options interpose.Options) *interpose.Proxy {
	w.t.Helper()
	options.Record, options.Hook = w.record, w.saboteur.decide
	proxy, err := interpose.Start(w.t.Context(), options)
	if err != nil {
		w.t.Fatal(err)
	}
	// Whoever still calls is cut off on purpose.
	w.t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

// start starts the operator, or another one after it. Its settings are the
// shortest that it takes, for a point waits for them several times.
func (w *world) start() {
	w.t.Helper()
	w.operator = operator.Start(w.t, operator.Options{
		Executable: w.executable, Config: w.kube.Config(), Silent: true,
		Args: append([]string{
			"--watch-namespaces=" + strings.Join(w.watched, ","), "--leader-election-namespace=" + w.watched[0],
			"--allow-endpoint-cidrs=127.0.0.0/8", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--zap-log-level=debug",
			// The operator sends no POST later than half a lease after it has said that it
			// would: time enough on a loaded machine.
			"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s",
			"--transition-poll-interval=200ms", "--provider-qps=1000", "--provider-burst=1000",
		}, w.flags...),
	})
}

// await waits for a condition. Meanwhile it does what a run needs: it kills and
// starts the operator at the point, lets a late effect come, and answers what a
// person is asked.
func (w *world) await(what string, condition func(context.Context) (bool, error)) error {
	err := wait.PollUntilContextTimeout(w.t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		// Before the rest: a user who acts at once acts before the operator is there again.
		holds, err := condition(ctx)
		if err != nil {
			return false, err
		}
		if err := errors.Join(w.auditor.first(), w.disturb(ctx)); err != nil {
			return false, err
		}
		return holds, nil
	})
	if wait.Interrupted(err) && w.t.Context().Err() == nil {
		return &harmed{Stuck, "waited in vain for " + what}
	}
	return err
}

// disturb does what is due of the point's disturbance and its consequences.
func (w *world) disturb(ctx context.Context) error {
	if w.saboteur.held() && w.restarted < 0 {
		w.operator.Kill()
		if w.saboteur.point.Mode == KilledBefore {
			w.saboteur.gate.Open(interpose.Drop())
		}
		w.restarted = len(w.record.Entries())
		w.start() //nolint:contextcheck // the operator lives as long as its test
	}
	if !w.operator.Running() {
		return &harmed{Stuck, "the operator ended by itself"}
	}
	if w.lateIsDue(ctx) {
		return w.deliver(ctx)
	}
	return w.answer(ctx)
}

// lateIsDue reports whether the operator's successor has shown that it knows of no
// VM: it has looked by the key in vain, has sent the POST again, or asks a person.
func (w *world) lateIsDue(ctx context.Context) bool {
	point := w.saboteur.point
	if point == nil || point.Mode != Late || w.restarted < 0 || w.delivered {
		return false
	}
	for _, entry := range w.record.Entries()[w.restarted:] {
		looked := entry.Is(provider.OperationFind) || entry.Is(provider.OperationCreate)
		if looked && entry.Done && entry.Fate == interpose.Passed {
			return true
		}
	}
	vm, err := w.ambiguous(ctx)
	return err == nil && vm != nil
}

// deliver lets the late effect happen.
func (w *world) deliver(ctx context.Context) error {
	w.delivered = true
	w.saboteur.gate.Open(interpose.Pass())
	number := w.saboteur.reached().Number
	return w.record.Await(ctx, func(all []interpose.Entry) bool { return all[number-1].Done })
}

// calm reports whether nothing was changed during the last intervals: there were
// beats of the poll since the last effect, and the operator of now made them.
func (w *world) calm() bool {
	count := 0
	for i, entry := range w.record.Entries() {
		switch {
		case IsEffect(entry.Call, w.namespace) || i < w.restarted:
			count = 0
		case entry.Is(provider.OperationCapabilities) && entry.Done && entry.Status != 0:
			count++
		}
	}
	return count >= beats
}

// describe is what a person needs to see why a point failed.
func (w *world) describe() string {
	var text strings.Builder
	text.WriteString("calls (reads of a kind in a row are shown once):\n")
	last := ""
	for _, entry := range w.record.Entries() {
		if entry.Kind == interpose.Other || entry.Kind == interpose.Review || entry.Kind == interpose.Lease {
			continue
		}
		if !entry.Mutating {
			now := fmt.Sprint(entry.Who, entry.Verb, entry.Target(), entry.Status)
			if now == last {
				continue
			}
			last = now
		} else {
			last = ""
		}
		fmt.Fprintf(&text, "  %s\n", entry)
	}
	fmt.Fprintf(&text, "VMs: %+v\n", w.fake.Live())
	lines := w.operator.Log()
	text.WriteString("the operator said at last:\n  " + strings.Join(lines[max(0, len(lines)-logged):], "\n  "))
	return text.String()
}

// logged is how many lines of a failed point's operator are shown.
const logged = 60
