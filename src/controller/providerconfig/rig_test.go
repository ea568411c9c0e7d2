package providerconfig_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/providerconfig"
	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

// marker is the API key of every test. It must appear nowhere but in its Secret.
const marker = "marker-5e1f0c7a-never-shown"

// patience is for a loaded machine; no test that passes waits for it.
const patience = time.Minute

// rig is a namespace with a running controller, and the providers that its
// ProviderConfigs lead to.
type rig struct {
	t         *testing.T
	namespace string
	reg       *registry.Registry
	logs      *buffer
	clock     *clock
	// writes and passes count what the controller does.
	writes, passes atomic.Int64
	// failing makes the controller's writes to metadata fail.
	failing atomic.Bool
	// connect replaces the way to fakes.
	connect func(registry.ConnectOptions) (provider.Client, func(), error)
	options providerconfig.Options

	mu        sync.Mutex
	providers map[string]*fake.Provider
	wants     string // the API key that the providers take; empty for any
	open      int    // clients that were not closed
	// Probes that have begun, and those whose pass has ended, by ProviderConfig.
	begun, ended map[string]int

	stop func()
}

// endpoint is where a rig's first provider is.
const endpoint = "https://vms.example.com"

func newRig(t *testing.T) *rig {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "providerconfig-"}}
	must(t, kube.Create(t.Context(), namespace))
	r := &rig{
		t: t, namespace: namespace.Name, logs: &buffer{}, clock: &clock{now: time.Now()},
		providers: map[string]*fake.Provider{}, begun: map[string]int{}, ended: map[string]int{}, stop: func() {},
	}
	r.connect = r.connectToFake
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "blue", Offered: []string{"idempotency", "list"}})
	t.Cleanup(func() {
		r.stop()
		r.checkMarker()
	})
	return r
}

// started is a new rig with its controller running.
func started(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.start()
	return r
}

// start runs the controller in a new manager with nothing remembered, as a new
// process does.
func (r *rig) start() {
	r.t.Helper()
	r.reg = registry.New()
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:     scheme,
		Logger:     zap.New(zap.WriteTo(r.logs), zap.Level(zapAll)),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{r.namespace: {}},
			ByObject: map[client.Object]cache.ByObject{
				&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{computev1.WatchedLabel: computev1.WatchedLabelValue})},
			},
		},
	})
	must(r.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	must(r.t, index.Register(ctx, mgr.GetFieldIndexer()))
	reconciler := &providerconfig.Reconciler{
		Client:    &countingClient{Client: mgr.GetClient(), writes: &r.writes, failing: &r.failing},
		APIReader: &countingReader{Reader: mgr.GetAPIReader(), passes: &r.passes},
		Registry:  r.reg,
		Connect:   r.connect,
		Recorder:  mgr.GetEventRecorder("vmoperator"),
		Gauges:    r,
		Now:       r.clock.Now,
		Options:   r.options,
	}
	must(r.t, reconciler.SetupWithManager(mgr))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	r.stop = func() {
		r.t.Helper()
		cancel()
		must(r.t, <-ended)
		r.stop = func() {}
	}
}

// restart is a crash: what the process remembered is gone.
func (r *rig) restart() {
	r.t.Helper()
	r.stop()
	r.start()
}

// provider returns the provider at an endpoint, which is made when first asked for.
func (r *rig) provider(endpoint string) *fake.Provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.providers[endpoint] == nil {
		r.providers[endpoint] = fake.New(fake.Options{})
	}
	return r.providers[endpoint]
}

func (r *rig) want(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wants = key
}

func (r *rig) connectToFake(options registry.ConnectOptions) (provider.Client, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open++
	return &door{Client: r.providers[options.Endpoint], rig: r, key: string(options.APIKey)}, sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open--
	}), nil
}

func (r *rig) openClients() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// door lets in who has the key.
type door struct {
	provider.Client

	rig *rig
	key string
}

func (d *door) Capabilities(ctx context.Context) (provider.Capabilities, error) {
	_, name, _ := strings.Cut(provider.CallInfoFrom(ctx).Caller, "/")
	d.rig.mu.Lock()
	wants := d.rig.wants
	d.rig.begun[name]++
	d.rig.mu.Unlock()
	if wants != "" && wants != d.key {
		return provider.Capabilities{}, &provider.Error{
			Op: provider.OperationCapabilities, Class: provider.Unauthorized, Err: errors.New("refused"),
		}
	}
	return d.Client.Capabilities(ctx)
}

// poll makes the next probe of aws due, and waits for the end of the pass that
// made it.
func (r *rig) poll() {
	r.t.Helper()
	r.mu.Lock()
	before := r.begun["aws"]
	r.mu.Unlock()
	r.clock.step(2 * time.Hour)
	r.reg.Doubt(r.key("aws"))
	r.eventually("a probe", func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return unless(r.ended["aws"] > before, "none was made")
	})
}

// SetProviderConfig implements providerconfig.Gauges: it comes at the end of a
// pass.
func (r *rig) SetProviderConfig(namespace, name string, ready bool, virtualMachines int) {
	metrics.ProviderConfigs{}.SetProviderConfig(namespace, name, ready, virtualMachines)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended[name] = r.begun[name]
}

// SetCircuit implements providerconfig.Gauges.
func (*rig) SetCircuit(namespace, name string, open bool) {
	metrics.ProviderConfigs{}.SetCircuit(namespace, name, open)
}

// SetOrphans implements providerconfig.Gauges.
func (*rig) SetOrphans(namespace, name string, orphans, duplicates, retained int) {
	metrics.ProviderConfigs{}.SetOrphans(namespace, name, orphans, duplicates, retained)
}

// DeleteProviderConfig implements providerconfig.Gauges.
func (r *rig) DeleteProviderConfig(namespace, name string) {
	metrics.ProviderConfigs{}.DeleteProviderConfig(namespace, name)
}

// eventually waits until check has no complaint.
func (r *rig) eventually(what string, check func() string) {
	r.t.Helper()
	complaint := "never tried"
	err := wait.PollUntilContextTimeout(r.t.Context(), 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		complaint = check()
		return complaint == "", nil
	})
	if err != nil {
		r.t.Fatalf("%s: %s (%v)\n%s", what, complaint, err, r.logs.String())
	}
}
