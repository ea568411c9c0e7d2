package appautoscaler_test

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
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/test/controllers"
)

// patience is how long a test waits for a condition: long, for machines are slow.
const patience = 60 * time.Second

// orderService is the Deployment of every test.
const (
	orderService = "order-service"
	image        = "registry.example.com/order-service:1.2.0"
)

// world is one namespace with a controller and a count of its writes.
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
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "aas-"}}
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
			return (&appautoscaler.Reconciler{
				Options: appautoscaler.Options{Retry: 200 * time.Millisecond},
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

// autoscaler creates an AppAutoscaler for the Deployment.
func (w *world) autoscaler(name string, replicas int32, changes ...func(*exampleappsv1.AppAutoscaler)) *exampleappsv1.AppAutoscaler {
	w.t.Helper()
	a := &exampleappsv1.AppAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec:       exampleappsv1.AppAutoscalerSpec{DeploymentName: orderService, Replicas: &replicas, Image: image},
	}
	for _, change := range changes {
		change(a)
	}
	w.must(w.client.Create(w.t.Context(), a))
	return a
}

func (w *world) get(name string) *exampleappsv1.AppAutoscaler {
	w.t.Helper()
	a := &exampleappsv1.AppAutoscaler{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, a))
	return a
}

// edit changes an AppAutoscaler as a person would.
func (w *world) edit(name string, change func(*exampleappsv1.AppAutoscaler)) {
	w.t.Helper()
	a := w.get(name)
	before := a.DeepCopy()
	change(a)
	w.must(w.client.Patch(w.t.Context(), a, client.MergeFrom(before)))
}

func (w *world) pause(name, value string) {
	w.t.Helper()
	w.edit(name, func(a *exampleappsv1.AppAutoscaler) {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, exampleappsv1.PausedAnnotation, value)
	})
}

// existing creates a Deployment as somebody else would, with these containers.
func (w *world) existing(replicas int32, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	w.t.Helper()
	labels := map[string]string{"app": orderService}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: orderService},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/order-service:1.1.0"}}},
			},
		},
	}
	for _, change := range changes {
		change(d)
	}
	w.must(w.client.Create(w.t.Context(), d, client.FieldOwner("helm")))
	return d
}

func (w *world) deployment() *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: orderService}, d))
	return d
}

// change edits the Deployment as a client of some name would.
func (w *world) change(manager string, change func(*appsv1.Deployment)) {
	w.t.Helper()
	d := w.deployment()
	before := d.DeepCopy()
	change(d)
	w.must(w.client.Patch(w.t.Context(), d, client.StrategicMergeFrom(before), client.FieldOwner(manager)))
}

// scale is "kubectl scale deployment order-service".
func (w *world) scale(replicas int) {
	w.t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	w.must(w.client.SubResource("scale").Patch(w.t.Context(), w.deployment(), patch, client.FieldOwner("kubectl")))
}

// wants waits until the Deployment has this number of replicas and this image.
func (w *world) wants(replicas int32, image string) {
	w.t.Helper()
	w.eventually("the Deployment", func() string {
		d := &appsv1.Deployment{}
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: orderService}, d); err != nil {
			return err.Error()
		}
		if got := *d.Spec.Replicas; got != replicas {
			return fmt.Sprintf("has %d replicas, want %d", got, replicas)
		}
		if got := d.Spec.Template.Spec.Containers[0].Image; got != image {
			return fmt.Sprintf("has the image %s, want %s", got, image)
		}
		return ""
	})
}

// reaches waits until an AppAutoscaler's status has this state, for its present
// generation.
func (w *world) reaches(name string, state exampleappsv1.AppAutoscalerState) *exampleappsv1.AppAutoscaler {
	w.t.Helper()
	var a *exampleappsv1.AppAutoscaler
	w.eventually("AppAutoscaler "+name, func() string {
		a = w.get(name)
		if a.Status.State != state || a.Status.ObservedGeneration != a.Generation {
			return fmt.Sprintf("generation %d, status %+v, want %s", a.Generation, a.Status, state)
		}
		return ""
	})
	return a
}

// has waits until a condition has this status and reason; an empty status means
// that there is none.
func (w *world) has(name, conditionType string, status metav1.ConditionStatus, reason string) metav1.Condition {
	w.t.Helper()
	var found *metav1.Condition
	w.eventually("condition "+conditionType, func() string {
		a := w.get(name)
		found = meta.FindStatusCondition(a.Status.Conditions, conditionType)
		if found == nil {
			found = &metav1.Condition{}
		}
		if found.Status != status || found.Reason != reason {
			return fmt.Sprintf("%+v, want %s %s", a.Status, status, reason)
		}
		return ""
	})
	return *found
}

// tells waits until there is an event about an AppAutoscaler with this reason and
// these words in its note.
func (w *world) tells(name, reason string, words ...string) {
	w.t.Helper()
	w.eventually("event "+reason, func() string {
		notes := w.notes(name, reason)
		for _, note := range notes {
			if missing(note, words) == "" {
				return ""
			}
		}
		return fmt.Sprintf("the notes are %q, want one with %q", notes, words)
	})
}

func missing(note string, words []string) string {
	for _, word := range words {
		if !strings.Contains(note, word) {
			return word
		}
	}
	return ""
}

// notes are those of the events about an AppAutoscaler, of one reason.
func (w *world) notes(name, reason string) []string {
	w.t.Helper()
	var list eventsv1.EventList
	w.must(w.client.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	var notes []string
	for i := range list.Items {
		if e := &list.Items[i]; e.Regarding.Kind == "AppAutoscaler" && e.Regarding.Name == name && e.Reason == reason {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// eventually waits until check has no complaint.
func (w *world) eventually(what string, check func() string) {
	w.t.Helper()
	complaint := "never tried"
	err := wait.PollUntilContextTimeout(w.t.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		complaint = check()
		return complaint == "", nil
	})
	if err != nil {
		w.t.Fatalf("%s: %s (%v)", what, complaint, err)
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
