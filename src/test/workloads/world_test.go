package workloads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/myapp"
	"github.com/example/vmoperator/src/test/controllers"
	"github.com/example/vmoperator/src/test/operator"
)

// shop is the name of every test's MyApp, Deployment and AppAutoscaler.
const shop = "shop"

// resync is how often what is settled is looked at here, so that a test sees many.
const resync = 50 * time.Millisecond

// world is a namespace in which both controllers work.
type world struct {
	t         *testing.T
	namespace string
	client    client.WithWatch
	ledger    *controllers.Ledger

	mu sync.Mutex
	// numbers are the numbers of replicas that the Deployment has been given.
	numbers []int32
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{t: t, ledger: &controllers.Ledger{}}
	var err error
	w.client, err = client.NewWithWatch(plane.Config, client.Options{Scheme: scheme})
	w.must(err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "workloads-"}}
	w.must(w.client.Create(t.Context(), namespace))
	w.namespace = namespace.Name
	w.watch()
	w.start()
	return w
}

// start runs both controllers until the test ends.
func (w *world) start() {
	w.t.Helper()
	controllers.Run(w.t, controllers.Options{
		Config: plane.Config, Scheme: scheme, Namespace: w.namespace, Ledger: w.ledger,
		SetUp: func(ctx context.Context, mgr ctrl.Manager) error {
			recorder := mgr.GetEventRecorder("vmoperator")
			return errors.Join(
				index.RegisterApps(ctx, mgr.GetFieldIndexer()),
				(&appautoscaler.Reconciler{
					Options: appautoscaler.Options{Retry: resync, Resync: resync},
					Client:  mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: recorder, Now: time.Now,
				}).SetupWithManager(mgr),
				(&myapp.Reconciler{
					Options: myapp.Options{Retry: resync, Autoscalers: true},
					Client:  mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: recorder, Now: time.Now,
				}).SetupWithManager(mgr),
			)
		},
	})
}

// watch keeps the numbers of replicas, each as it is set: one that is right before and
// after may have been wrong in between.
func (w *world) watch() {
	w.t.Helper()
	changes, err := w.client.Watch(w.t.Context(), &appsv1.DeploymentList{}, client.InNamespace(w.namespace))
	w.must(err)
	w.t.Cleanup(changes.Stop)
	go func() {
		for change := range changes.ResultChan() {
			deployment, is := change.Object.(*appsv1.Deployment)
			if !is {
				continue
			}
			w.mu.Lock()
			if n := *deployment.Spec.Replicas; len(w.numbers) == 0 || w.numbers[len(w.numbers)-1] != n {
				w.numbers = append(w.numbers, n)
			}
			w.mu.Unlock()
		}
	}()
}

// numbered waits until the Deployment has been given these numbers of replicas, one
// after the other, and no other.
func (w *world) numbered(want ...int32) {
	w.t.Helper()
	var got []int32
	defer func() {
		if w.t.Failed() {
			w.t.Logf("numbers of replicas: %v, want %v", got, want)
		}
	}()
	operator.WaitFor(w.t, fmt.Sprintf("the numbers of replicas %v", want), func(context.Context) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		got = slices.Clone(w.numbers)
		return slices.Equal(got, want)
	})
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: shop}
}

func (w *world) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: shop}
}

func (w *world) app(replicas int32) *exampleappsv1.MyApp {
	w.t.Helper()
	app := &exampleappsv1.MyApp{
		ObjectMeta: w.meta(), Spec: exampleappsv1.MyAppSpec{Image: "registry.example.com/shop:1.2.0", Replicas: &replicas},
	}
	w.must(w.client.Create(w.t.Context(), app))
	return app
}

func (w *world) autoscaler(replicas int32, changes ...func(*exampleappsv1.AppAutoscaler)) *exampleappsv1.AppAutoscaler {
	w.t.Helper()
	a := &exampleappsv1.AppAutoscaler{
		ObjectMeta: w.meta(), Spec: exampleappsv1.AppAutoscalerSpec{DeploymentName: shop, Replicas: &replicas},
	}
	for _, change := range changes {
		change(a)
	}
	w.must(w.client.Create(w.t.Context(), a))
	return a
}

// edit changes an object as a person would.
func edit[T client.Object](w *world, object T, change func(T)) {
	w.t.Helper()
	w.must(w.client.Get(w.t.Context(), client.ObjectKeyFromObject(object), object))
	before := object.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of an object is one
	change(object)
	w.must(w.client.Patch(w.t.Context(), object, client.MergeFrom(before)))
}

// scale is what a person, or a HorizontalPodAutoscaler, does to the Deployment.
func (w *world) scale(manager string, replicas int) {
	w.t.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	w.must(w.client.SubResource("scale").Patch(w.t.Context(), &appsv1.Deployment{ObjectMeta: w.meta()}, patch, client.FieldOwner(manager)))
}

// runs says that all Pods run what the Deployment declares, as its controller would.
func (w *world) runs() {
	w.t.Helper()
	operator.WaitFor(w.t, "the Deployment's status to be written", func(ctx context.Context) bool {
		d := &appsv1.Deployment{}
		if w.client.Get(ctx, w.key(), d) != nil {
			return false
		}
		n := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		return w.client.Status().Update(ctx, d) == nil
	})
}

// stated waits until the AppAutoscaler, of its present generation, has a state, and
// tells of as many Pods as the Deployment.
func (w *world) stated(state exampleappsv1.AppAutoscalerState) {
	w.t.Helper()
	operator.WaitFor(w.t, fmt.Sprintf("the AppAutoscaler to be %s", state), func(ctx context.Context) bool {
		a := &exampleappsv1.AppAutoscaler{}
		return w.client.Get(ctx, w.key(), a) == nil && a.Status.State == state && a.Status.ObservedGeneration == a.Generation &&
			a.Status.Replicas == w.pods(ctx)
	})
}

// ready waits until the MyApp, of its present generation, is Ready and Synced, and
// returns what Synced says.
func (w *world) ready() string {
	w.t.Helper()
	app := &exampleappsv1.MyApp{}
	operator.WaitFor(w.t, "the MyApp to be Ready", func(ctx context.Context) bool {
		return w.client.Get(ctx, w.key(), app) == nil && app.Status.ObservedGeneration == app.Generation &&
			meta.IsStatusConditionTrue(app.Status.Conditions, exampleappsv1.ConditionReady) &&
			meta.IsStatusConditionTrue(app.Status.Conditions, exampleappsv1.ConditionSynced) &&
			app.Status.Replicas == w.pods(ctx)
	})
	return meta.FindStatusCondition(app.Status.Conditions, exampleappsv1.ConditionSynced).Message
}

// pods is how many Pods the Deployment has; none without a Deployment.
func (w *world) pods(ctx context.Context) int32 {
	d := &appsv1.Deployment{}
	if err := w.client.Get(ctx, w.key(), d); err != nil {
		return 0
	}
	return d.Status.Replicas
}
