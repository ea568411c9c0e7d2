package labeller_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/example/vmoperator/src/controller/labeller"
)

// counting counts the writes that go through it.
type counting struct {
	client.Client

	writes atomic.Int32
}

func (c *counting) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	c.writes.Add(1)
	return c.Client.Patch(ctx, object, patch, options...)
}

// clock is a time that stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func rule(t *testing.T, selector string) labeller.Rule {
	t.Helper()
	parsed, err := labeller.ParseRule(labeller.DefaultKey, labeller.DefaultValue, selector)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// start runs a labeller in one namespace until the test ends.
func start(t *testing.T, namespace, selector string) *counting {
	t.Helper()
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme: scheme.Scheme,
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{namespace: {}}, DefaultTransform: cache.TransformStripManagedFields(),
		},
		Metrics: metricsserver.Options{BindAddress: "0"},
		// The controller's name is the same in each test.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Client: mgr.GetClient()}
	reconciler := &labeller.Reconciler{
		Rule: rule(t, selector), Client: counted, Recorder: mgr.GetEventRecorder("vmoperator"), Now: newClock().time,
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return counted
}

// direct is a labeller that no manager runs: the test makes its passes. It reads
// what is stored.
func direct(t *testing.T, now func() time.Time) (*labeller.Reconciler, *counting, *events.FakeRecorder) {
	t.Helper()
	counted, recorder := &counting{Client: kube}, events.NewFakeRecorder(100)
	return &labeller.Reconciler{Rule: rule(t, ""), Client: counted, Recorder: recorder, Now: now}, counted, recorder
}

func namespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "labeller-"}}
	if err := kube.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	return made.Name
}

func deployment(t *testing.T, namespace, name string, labels map[string]string, finalizers ...string) *appsv1.Deployment {
	t.Helper()
	pods := map[string]string{"pods": name}
	made := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, Finalizers: finalizers},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: pods},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pods},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}},
			},
		},
	}
	if err := kube.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	return made
}

// relabel sets the label as a user does; nil takes it away.
func relabel(t *testing.T, object *appsv1.Deployment, value *string) {
	t.Helper()
	text := `{"metadata":{"labels":{"managed-by":null}}}`
	if value != nil {
		text = `{"metadata":{"labels":{"managed-by":"` + *value + `"}}}`
	}
	if err := kube.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

// stored is a Deployment's labels as the apiserver has them.
func stored(ctx context.Context, t *testing.T, object *appsv1.Deployment) map[string]string {
	t.Helper()
	var read appsv1.Deployment
	if err := kube.Get(ctx, client.ObjectKeyFromObject(object), &read); err != nil {
		t.Fatal(err)
	}
	return read.Labels
}
