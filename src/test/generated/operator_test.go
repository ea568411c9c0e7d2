package generated

import (
	"context"
	"maps"
	"slices"
	"strings"
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
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/providerconfig"
	"github.com/example/vmoperator/src/controller/virtualmachine"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
	"github.com/example/vmoperator/src/test/builders"
)

// patience is for a loaded machine; no test that passes waits for it.
const patience = 2 * time.Minute

// site is a namespace with a provider of its own, and credentials that it takes.
type site struct {
	namespace string
	provider  *fake.Provider
}

// startOperator runs the controllers in the sites until the test ends. Wherever a
// ProviderConfig leads, it leads to its site's provider.
func startOperator(t *testing.T, sites ...*site) {
	t.Helper()
	namespaces := map[string]cache.Config{}
	for _, s := range sites {
		namespaces[s.namespace] = cache.Config{}
	}
	watched := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{computev1.WatchedLabel: computev1.WatchedLabelValue})}
	mgr, err := ctrl.NewManager(plane.Config, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{
			DefaultNamespaces: namespaces,
			ByObject:          map[client.Object]cache.ByObject{&corev1.Secret{}: watched, &corev1.Service{}: watched},
		},
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	must(t, index.Register(ctx, mgr.GetFieldIndexer()))
	must(t, setUp(mgr, sites))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if strings.Contains(logs.String(), "Observed a panic") {
			t.Errorf("the controllers panicked:\n%s", tail(logs.String()))
		}
	})
}

func setUp(mgr ctrl.Manager, sites []*site) error {
	providers := registry.New()
	configs := &providerconfig.Reconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Registry: providers, Connect: connector(sites),
		Recorder: mgr.GetEventRecorder(computev1.FieldOwner), Now: time.Now,
	}
	if err := configs.SetupWithManager(mgr); err != nil {
		return err
	}
	return (&virtualmachine.Reconciler{
		Options: virtualmachine.Options{
			MaxConcurrentReconciles: 8, LeaseDuration: 15 * time.Second, TransitionPoll: 100 * time.Millisecond,
		},
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Registry: providers,
		Recorder: mgr.GetEventRecorder(computev1.FieldOwner), Now: time.Now,
	}).SetupWithManager(mgr)
}

// connector builds the real client, for that is what settings are refused by, and
// speaks to the site's provider instead.
func connector(sites []*site) func(registry.ConnectOptions) (provider.Client, func(), error) {
	return func(options registry.ConnectOptions) (provider.Client, func(), error) {
		_, release, err := registry.Connect(options)
		if err != nil {
			return nil, nil, err
		}
		return &door{sites: sites}, release, nil
	}
}

// door leads each call to the provider of its caller's namespace.
type door struct{ sites []*site }

func (d *door) of(ctx context.Context) provider.Client {
	namespace, _, _ := strings.Cut(provider.CallInfoFrom(ctx).Caller, "/")
	found := slices.IndexFunc(d.sites, func(s *site) bool { return s.namespace == namespace })
	return d.sites[found].provider
}

func (d *door) Capabilities(ctx context.Context) (provider.Capabilities, error) {
	return d.of(ctx).Capabilities(ctx)
}

func (d *door) Create(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, error) {
	return d.of(ctx).Create(ctx, key, request)
}

func (d *door) Get(ctx context.Context, id string) (provider.Machine, error) {
	return d.of(ctx).Get(ctx, id)
}

func (d *door) FindByKey(ctx context.Context, key string) (provider.Machine, error) {
	return d.of(ctx).FindByKey(ctx, key)
}

func (d *door) List(ctx context.Context, cursor string) (provider.Page, error) {
	return d.of(ctx).List(ctx, cursor)
}

func (d *door) Resize(ctx context.Context, id string, size provider.Size) (provider.Machine, error) {
	return d.of(ctx).Resize(ctx, id, size)
}

func (d *door) Delete(ctx context.Context, id string) error { return d.of(ctx).Delete(ctx, id) }

// newSite makes a namespace with credentials, and with a ProviderConfig default if
// asked for.
func newSite(t *testing.T, options fake.Options) *site {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "generated-"}}
	must(t, kube.Create(t.Context(), namespace))
	options.Phase = provider.PhaseRunning
	s := &site{namespace: namespace.Name, provider: fake.New(options)}
	must(t, kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: credentials},
		Data:       map[string][]byte{computev1.APIKeyKey: []byte("a-key"), computev1.CACertificateKey: certificate(t)},
	}))
	return s
}

func (s *site) providerConfig(t *testing.T, name string) {
	t.Helper()
	must(t, kube.Create(t.Context(), builders.ProviderConfig(s.namespace, name, "https://vms.example.com", func(config *computev1.ProviderConfig) {
		config.Spec.SecretRef = &computev1.SecretReference{Name: credentials}
	})))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// settle waits until none of the checks complains, and tells what still does.
func settle(t *testing.T, checks map[string]func(context.Context) string) {
	t.Helper()
	open := maps.Clone(checks)
	complaints := map[string]string{}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		for name, check := range open {
			if complaints[name] = check(ctx); complaints[name] == "" {
				delete(open, name)
			}
		}
		return len(open) == 0, nil
	})
	if err == nil {
		return
	}
	for name := range open {
		t.Errorf("%s: %s", name, complaints[name])
	}
	t.Fatalf("%d of %d do not settle: %v\n%s", len(open), len(checks), err, tail(logs.String()))
}

func tail(text string) string {
	const most = 4000
	return text[max(0, len(text)-most):]
}
