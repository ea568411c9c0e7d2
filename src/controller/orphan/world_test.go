package orphan_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/orphan"
	"github.com/example/vmoperator/src/controller/orphan/finding"
	"github.com/example/vmoperator/src/controller/providerconfig"
	"github.com/example/vmoperator/src/controller/virtualmachine"
	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
	"github.com/example/vmoperator/src/test/builders"
)

// name is that of every world's ProviderConfig.
const name = "default"

// world is a namespace whose VirtualMachines are served by all controllers. The
// orphan controller alone looks only when it is told to, and lives in a time that
// tests move.
type world struct {
	t         *testing.T
	on        *cluster
	namespace string
	provider  *fake.Provider
	clock     *clock

	mgr      manager.Manager
	orphans  *orphan.Reconciler
	observer *snapshot.Observer
	// lists counts the reads of VirtualMachines past the cache.
	lists atomic.Int64
	stop  func()

	mu sync.Mutex
	// onList changes what a page shows; onGet is called before a VM is read.
	onList func(provider.Page, error) (provider.Page, error)
	onGet  func(id string)
}

func newProvider() *fake.Provider {
	return fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning, PageSize: 2})
}

// newWorld makes a ProviderConfig, changed by the functions, that leads to a
// provider.
func newWorld(t *testing.T, on *cluster, p *fake.Provider, changes ...func(*computev1.ProviderConfig)) *world {
	t.Helper()
	w := &world{t: t, on: on, provider: p, clock: &clock{now: time.Now()}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "orphan-"}}
	w.must(on.kube.Create(t.Context(), namespace))
	w.namespace = namespace.Name
	w.must(on.kube.Create(t.Context(), builders.ProviderConfig(w.namespace, name, "https://vms.example.com", changes...)))
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// deletes opts in.
func deletes(config *computev1.ProviderConfig) {
	config.Spec.Orphans = &computev1.ProviderOrphans{Policy: computev1.OrphanPolicyDelete}
}

// start runs the controllers with nothing remembered, as a new process does.
func (w *world) start() {
	w.t.Helper()
	mgr, err := ctrl.NewManager(w.on.config, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
			ByObject: map[client.Object]cache.ByObject{
				&corev1.Secret{}: {Label: watched()}, &corev1.Service{}: {Label: watched()},
			},
		},
	})
	w.must(err)
	w.must(index.Register(w.t.Context(), mgr.GetFieldIndexer()))
	providers, findings := registry.New(), &finding.Board{}
	w.must((&providerconfig.Reconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Registry: providers, Findings: findings, Gauges: metrics.ProviderConfigs{},
		Connect: func(registry.ConnectOptions) (provider.Client, func(), error) {
			return &door{w.provider, w}, func() {}, nil
		},
		Recorder: mgr.GetEventRecorder("vmoperator"), Now: time.Now,
	}).SetupWithManager(mgr))
	w.must((&virtualmachine.Reconciler{
		Options: virtualmachine.Options{MaxConcurrentReconciles: 2, LeaseDuration: time.Minute, TransitionPoll: 100 * time.Millisecond},
		Client:  mgr.GetClient(), APIReader: mgr.GetAPIReader(), Registry: providers, Recorder: mgr.GetEventRecorder("vmoperator"), Now: time.Now,
	}).SetupWithManager(mgr))
	w.mgr = mgr
	w.observer = snapshot.New(providers, time.Second, w.clock.Now)
	w.orphans = &orphan.Reconciler{
		Lists:  w.observer,
		Client: mgr.GetClient(), APIReader: &countingReader{Reader: mgr.GetAPIReader(), lists: &w.lists},
		Registry: providers, Findings: findings, Recorder: mgr.GetEventRecorder("vmoperator"), Now: w.clock.Now,
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("manager: %v", err)
		}
	})
	w.ready()
}

func watched() labels.Selector {
	return labels.SelectorFromSet(labels.Set{computev1.WatchedLabel: computev1.WatchedLabelValue})
}

// restart is a crash some time ago: what the process remembered is gone.
func (w *world) restart(after time.Duration) {
	w.t.Helper()
	w.eventually("the last look to be stored", func() string {
		stored := w.config().Status.Orphans
		if stored != nil && stored.LookedAt.Unix() == w.clock.Now().Unix() {
			return ""
		}
		return "it is not"
	})
	w.stop()
	w.clock.step(after)
	w.start()
}

func (w *world) key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: name}
}

// look lets the orphan controller look, as it would by itself after a while.
func (w *world) look() time.Duration {
	w.t.Helper()
	w.clock.step(orphan.DefaultInterval + orphan.DefaultInterval/10)
	return w.goOn()
}

// goOn lets it go on with what it has begun, and gives it a list if it asks for one.
func (w *world) goOn() time.Duration {
	w.t.Helper()
	request := ctrl.Request{NamespacedName: w.key()}
	_, err := w.orphans.Reconcile(w.t.Context(), request)
	w.must(err)
	w.observer.Look(w.t.Context(), w.key())
	result, err := w.orphans.Reconcile(w.t.Context(), request)
	w.must(err)
	if result.RequeueAfter <= 0 {
		w.t.Error("it does not look again")
	}
	return result.RequeueAfter
}

// looks looks often enough for an orphan to be certain, and for it to be old.
func (w *world) looks() {
	w.t.Helper()
	for range 8 {
		w.look()
	}
}

func (w *world) hookList(hook func(provider.Page, error) (provider.Page, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onList = hook
}

func (w *world) hookGet(hook func(id string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onGet = hook
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventually waits until check has no complaint.
func (w *world) eventually(what string, check func() string) {
	w.t.Helper()
	complaint := "never tried"
	err := wait.PollUntilContextTimeout(w.t.Context(), 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		complaint = check()
		return complaint == "", nil
	})
	if err != nil {
		w.t.Fatalf("%s: %s (%v)", what, complaint, err)
	}
}

// door leads to a world's provider, and lets tests in between.
type door struct {
	*fake.Provider

	world *world
}

func (d *door) List(ctx context.Context, cursor string) (provider.Page, error) {
	page, err := d.Provider.List(ctx, cursor)
	d.world.mu.Lock()
	hook := d.world.onList
	d.world.mu.Unlock()
	if hook != nil {
		return hook(page, err)
	}
	return page, err
}

func (d *door) Get(ctx context.Context, id string) (provider.Machine, error) {
	d.world.mu.Lock()
	hook := d.world.onGet
	d.world.mu.Unlock()
	if hook != nil {
		hook(id)
	}
	return d.Provider.Get(ctx, id)
}

// countingReader counts lists of VirtualMachines.
type countingReader struct {
	client.Reader

	lists *atomic.Int64
}

func (c *countingReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	c.lists.Add(1)
	return c.Reader.List(ctx, list, options...)
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) step(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}
