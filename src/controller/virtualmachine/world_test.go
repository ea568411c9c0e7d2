package virtualmachine_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/listing"
	"github.com/example/vmoperator/src/controller/virtualmachine"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/guard"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/provider/snapshot"
	"github.com/example/vmoperator/src/test/controlplane"
)

var (
	plane  *controlplane.ControlPlane
	scheme = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, computev1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.UseDevMode(os.Getenv("VERBOSE") != "")))
	flag.Parse()
	if !controlplane.Needed() {
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{
		CRDPaths:          []string{"../../../charts/vmoperator/files/crds"},
		ControllerManager: true,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

// patience is how long a test waits for a condition: long, for machines are slow.
const patience = 60 * time.Second

// world is one namespace with a controller, a provider and a count of writes.
type world struct {
	t         *testing.T
	namespace string
	client    client.Client
	provider  *fake.Provider
	registry  *registry.Registry
	options   virtualmachine.Options
	writes    *ledger
	// refuse, if set, is asked before every update of the controller's.
	refuse func(client.Object) error
	// read, if set, is asked after every read of a VirtualMachine from the cache, with
	// what was read, and may give another answer.
	read func(*computev1.VirtualMachine, error) error
	// polled is a controller without lists of VMs.
	polled bool
	// bulkhead is the one of the providers' clients, where they have one.
	bulkhead *guard.Bulkhead
	stop     func()
}

// polled lets every VM be looked at by itself, as where a provider has no lists.
func polled(w *world) { w.polled = true }

func full() fake.Options {
	return fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning}
}

func minimal() fake.Options { return fake.Options{Phase: provider.PhaseRunning} }

// newWorld starts a controller in a namespace of its own, with a ProviderConfig
// named default that leads to a fake provider.
func newWorld(t *testing.T, options fake.Options, changes ...func(*world)) *world {
	t.Helper()
	t.Parallel()
	w := &world{
		t:        t,
		provider: fake.New(options),
		options: virtualmachine.Options{
			MaxConcurrentReconciles: 5, LeaseDuration: time.Second, TransitionPoll: 100 * time.Millisecond,
		},
		writes: &ledger{looks: map[string]int{}},
	}
	for _, change := range changes {
		change(w)
	}
	var err error
	w.client, err = client.New(plane.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "vm-"}}
	w.must(w.client.Create(t.Context(), namespace))
	w.namespace = namespace.Name
	w.providerConfig("default")
	w.startManager()
	t.Cleanup(func() { w.stop() })
	w.ready("default")
	return w
}

func (w *world) providerConfig(name string) {
	w.t.Helper()
	w.must(w.client.Create(w.t.Context(), &computev1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec:       computev1.ProviderConfigSpec{Endpoint: "http://provider.example.com"},
	}))
}

// startManager starts a controller with cold caches and an empty registry, as a
// new process has.
func (w *world) startManager() {
	w.t.Helper()
	w.registry = registry.New()
	mgr, err := ctrl.NewManager(plane.Config, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             config.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
		},
		NewClient: w.counted,
	})
	w.must(err)
	w.must(index.Register(w.t.Context(), mgr.GetFieldIndexer()))
	var lists *snapshot.Observer
	if !w.polled {
		lists = snapshot.New(w.registry, w.options.TransitionPoll, time.Now)
		w.must((&listing.Reconciler{Lists: lists}).SetupWithManager(mgr))
	}
	w.options.Namespaces = []string{w.namespace}
	w.must((&virtualmachine.Reconciler{
		Options: w.options, Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Registry: w.registry, Lists: lists, Bulkhead: w.bulkhead,
		Recorder: mgr.GetEventRecorder("vmoperator"), Now: time.Now,
	}).SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	var once sync.Once
	w.stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				w.t.Errorf("manager: %v", err)
			}
		})
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		w.t.Fatal("the caches do not sync")
	}
}

// restart is what a crash and a new process are to the controller.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.startManager()
	w.ready("default")
}

// counted wraps the manager's client so that its writes are counted.
func (w *world) counted(cfg *rest.Config, options client.Options) (client.Client, error) {
	base, err := client.NewWithWatch(cfg, options)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(base, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			w.writes.look(object, key)
			err := c.Get(ctx, key, object, opts...)
			if vm, ok := object.(*computev1.VirtualMachine); ok && w.read != nil {
				return w.read(vm, err)
			}
			return err
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			w.writes.write("create", object)
			return c.Create(ctx, object, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			w.writes.write("update", object)
			if w.refuse != nil {
				if err := w.refuse(object); err != nil {
					return err
				}
			}
			return c.Update(ctx, object, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			w.writes.write("patch", object)
			return c.Patch(ctx, object, patch, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			w.writes.write("delete", object)
			return c.Delete(ctx, object, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			w.writes.write("patch "+sub, object)
			return c.SubResource(sub).Patch(ctx, object, patch, opts...)
		},
	}), nil
}

// ready says that a ProviderConfig leads to the world's provider.
func (w *world) ready(name string) { w.readyVia(name, w.provider) }

func (w *world) readyVia(name string, p *fake.Provider) {
	w.t.Helper()
	capabilities, err := p.Capabilities(w.t.Context())
	w.must(err)
	entry := w.entry(capabilities)
	entry.Client = p
	w.set(name, entry)
}

// entry is that of a provider that works.
func (w *world) entry(capabilities provider.Capabilities) registry.Entry {
	return registry.Entry{
		State: registry.Ready, Client: w.provider, Capabilities: capabilities, Identities: []string{capabilities.Identity},
		UID: "provider-uid", PollInterval: time.Second, Timeout: 100 * time.Millisecond,
	}
}

func (w *world) set(name string, entry registry.Entry) {
	w.registry.Set(types.NamespacedName{Namespace: w.namespace, Name: name}, entry)
}

// vm creates a VirtualMachine.
func (w *world) vm(name string, changes ...func(*computev1.VirtualMachine)) *computev1.VirtualMachine {
	w.t.Helper()
	vm := &computev1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec:       computev1.VirtualMachineSpec{Image: "debian-12", CPU: 2, Memory: new(resource.MustParse("4Gi"))},
	}
	for _, change := range changes {
		change(vm)
	}
	w.must(w.client.Create(w.t.Context(), vm))
	return vm
}

// get reads an object past every cache.
func (w *world) get(name string) *computev1.VirtualMachine {
	w.t.Helper()
	vm := &computev1.VirtualMachine{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, vm))
	return vm
}

// edit changes an object as a person would.
func (w *world) edit(name string, change func(*computev1.VirtualMachine)) {
	w.t.Helper()
	vm := w.get(name)
	before := vm.DeepCopy()
	change(vm)
	w.must(w.client.Patch(w.t.Context(), vm, client.MergeFrom(before)))
}

func (w *world) annotate(name, key, value string) {
	w.t.Helper()
	w.edit(name, func(vm *computev1.VirtualMachine) { metav1.SetMetaDataAnnotation(&vm.ObjectMeta, key, value) })
}

func (w *world) delete(name string) {
	w.t.Helper()
	w.must(w.client.Delete(w.t.Context(), w.get(name)))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
