package myapp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/myapp"
	"github.com/example/vmoperator/src/test/controllers"
	"github.com/example/vmoperator/src/test/operator"
)

// shop is the name of every test's MyApp.
const (
	shop  = "shop"
	image = "registry.example.com/shop:1.2.0"
)

// world is one namespace with a controller and a ledger of its writes.
type world struct {
	t         *testing.T
	namespace string
	client    client.Client
	clock     *controllers.Clock
	ledger    *controllers.Ledger
	stop      func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{t: t, clock: &controllers.Clock{}, ledger: &controllers.Ledger{}}
	var err error
	w.client, err = client.New(plane.Config, client.Options{Scheme: scheme})
	w.must(err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "mya-"}}
	w.must(w.client.Create(t.Context(), namespace))
	w.namespace = namespace.Name
	w.start()
	return w
}

// start runs the controller with cold caches and nothing remembered, as a new
// process does.
func (w *world) start() {
	w.t.Helper()
	w.stop = controllers.Run(w.t, controllers.Options{
		Config: plane.Config, Scheme: scheme, Namespace: w.namespace, Ledger: w.ledger,
		SetUp: func(ctx context.Context, mgr ctrl.Manager) error {
			if err := index.RegisterApps(ctx, mgr.GetFieldIndexer()); err != nil {
				return err
			}
			return (&myapp.Reconciler{
				Options: myapp.Options{Autoscalers: true, Retry: 200 * time.Millisecond},
				Client:  mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("vmoperator"), Now: w.clock.Now,
			}).SetupWithManager(mgr)
		},
	})
}

// restart is what a crash and a new process are to the controller.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) key() client.ObjectKey { return client.ObjectKey{Namespace: w.namespace, Name: shop} }

func (w *world) app(changes ...func(*exampleappsv1.MyApp)) *exampleappsv1.MyApp {
	w.t.Helper()
	app := &exampleappsv1.MyApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: shop}, Spec: exampleappsv1.MyAppSpec{Image: image},
	}
	for _, change := range changes {
		change(app)
	}
	w.must(w.client.Create(w.t.Context(), app))
	return app
}

func (w *world) get() *exampleappsv1.MyApp {
	w.t.Helper()
	app := &exampleappsv1.MyApp{}
	w.must(w.client.Get(w.t.Context(), w.key(), app))
	return app
}

// becomes waits for the MyApp to be as a function says.
func (w *world) becomes(what string, is func(*exampleappsv1.MyApp) bool) {
	w.t.Helper()
	w.until(what, func(ctx context.Context) bool {
		app := &exampleappsv1.MyApp{}
		return w.client.Get(ctx, w.key(), app) == nil && is(app)
	})
}

// edit changes the MyApp as a person would.
func (w *world) edit(change func(*exampleappsv1.MyApp)) {
	w.t.Helper()
	app := w.get()
	before := app.DeepCopy()
	change(app)
	w.must(w.client.Patch(w.t.Context(), app, client.MergeFrom(before)))
}

func (w *world) deployment() *appsv1.Deployment {
	w.t.Helper()
	deployment := &appsv1.Deployment{}
	w.must(w.client.Get(w.t.Context(), w.key(), deployment))
	return deployment
}

// meddle changes the Deployment as a client of that name would.
func (w *world) meddle(manager string, change func(*appsv1.Deployment)) {
	w.t.Helper()
	deployment := w.deployment()
	before := deployment.DeepCopy()
	change(deployment)
	w.must(w.client.Patch(w.t.Context(), deployment, client.MergeFrom(before), client.FieldOwner(manager)))
}

// runs says that all Pods run what the Deployment declares, as its controller would.
func (w *world) runs() {
	w.t.Helper()
	w.says(func(d *appsv1.Deployment) {
		n := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", Message: "enough"},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", Message: "progressed"},
			},
		}
	})
}

func (w *world) says(change func(*appsv1.Deployment)) {
	w.t.Helper()
	deployment := w.deployment()
	change(deployment)
	w.must(w.client.Status().Update(w.t.Context(), deployment))
}

// until waits for a condition.
func (w *world) until(what string, condition func(context.Context) bool) {
	w.t.Helper()
	operator.WaitFor(w.t, what, condition)
}

// awaits waits for the Deployment to be as a function says.
func (w *world) awaits(what string, is func(*appsv1.Deployment) bool) {
	w.t.Helper()
	w.until(what, func(ctx context.Context) bool {
		deployment := &appsv1.Deployment{}
		return w.client.Get(ctx, w.key(), deployment) == nil && is(deployment)
	})
}

// shows waits until a condition of the MyApp, of its present generation, has a
// status and a reason.
func (w *world) shows(condition string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	w.t.Helper()
	var last *metav1.Condition
	w.until(fmt.Sprintf("%s=%s, %s", condition, status, reason), func(ctx context.Context) bool {
		app := &exampleappsv1.MyApp{}
		if err := w.client.Get(ctx, w.key(), app); err != nil {
			return false
		}
		last = meta.FindStatusCondition(app.Status.Conditions, condition)
		return last != nil && last.Status == status && last.Reason == reason && last.ObservedGeneration == app.Generation
	})
	return last
}

// settled brings a MyApp to where nothing is left to do.
func (w *world) settled(changes ...func(*exampleappsv1.MyApp)) {
	w.t.Helper()
	w.app(changes...)
	w.shows("Synced", metav1.ConditionTrue, "Synced")
	w.runs()
	w.shows("Ready", metav1.ConditionTrue, "Available")
}

// tells waits for an event of a reason whose note has all parts.
func (w *world) tells(reason string, parts ...string) {
	w.t.Helper()
	w.until(fmt.Sprintf("an event %s with %q", reason, parts), func(ctx context.Context) bool {
		var list eventsv1.EventList
		if err := w.client.List(ctx, &list, client.InNamespace(w.namespace)); err != nil {
			return false
		}
		for i := range list.Items {
			if list.Items[i].Reason == reason && hasAll(list.Items[i].Note, parts) {
				return true
			}
		}
		return false
	})
}

func hasAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// looks makes the controller look at the MyApp, and waits until it has.
func (w *world) looks() {
	w.t.Helper()
	w.edit(func(app *exampleappsv1.MyApp) {
		app.Annotations = map[string]string{exampleappsv1.PausedAnnotation: "true"}
	})
	w.shows("Synced", metav1.ConditionUnknown, "Paused")
	w.edit(func(app *exampleappsv1.MyApp) { app.Annotations = nil })
	w.shows("Synced", metav1.ConditionTrue, "Synced")
}
