//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bound is what the handbook allows for a recovery: 10 to 20 s.
const bound = 20 * time.Second

// frame is an object as a watch has shown it.
type frame[T client.Object] struct {
	at     time.Time
	object T
	// gone: the object was deleted.
	gone bool
}

// is reports whether the object is there, and as it should be.
func (f frame[T]) is(right func(T) bool) bool { return !f.gone && right(f.object) }

// film is what became of an object, version by version: a look now and then would
// miss what is put back at once.
type film[T client.Object] struct {
	t         *testing.T
	namespace string

	mu     sync.Mutex
	frames []frame[T]
}

func filmDeployment(t *testing.T, namespace, name string) *film[*appsv1.Deployment] {
	t.Helper()
	watcher, err := clientset.AppsV1().Deployments(namespace).Watch(t.Context(), only(name))
	must(t, err)
	return newFilm[*appsv1.Deployment](t, namespace, watcher)
}

func filmScaler(t *testing.T, namespace, name string) *film[*autoscalingv2.HorizontalPodAutoscaler] {
	t.Helper()
	watcher, err := clientset.AutoscalingV2().HorizontalPodAutoscalers(namespace).Watch(t.Context(), only(name))
	must(t, err)
	return newFilm[*autoscalingv2.HorizontalPodAutoscaler](t, namespace, watcher)
}

func only(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: "metadata.name=" + name}
}

// newFilm goes on until the test ends, and the watch with it.
func newFilm[T client.Object](t *testing.T, namespace string, watcher watch.Interface) *film[T] {
	t.Helper()
	f := &film[T]{t: t, namespace: namespace}
	go func() {
		for event := range watcher.ResultChan() {
			if object, ok := event.Object.(T); ok {
				f.add(frame[T]{at: time.Now(), object: object, gone: event.Type == watch.Deleted})
			}
		}
	}()
	return f
}

func (f *film[T]) add(next frame[T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frames = append(f.frames, next)
}

// since are the frames after the first ones, which are so many.
func (f *film[T]) since(count int) []frame[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frames[count:]
}

// declares is a Deployment with so many replicas of the image.
func declares(replicas int32, image string) func(*appsv1.Deployment) bool {
	return func(d *appsv1.Deployment) bool {
		return *d.Spec.Replicas == replicas && d.Spec.Template.Spec.Containers[0].Image == image
	}
}

// damaged does something to the object with kubectl, and waits until the film
// shows that it was done, and then that it is undone. The time between is printed,
// and may not exceed the bound.
func (f *film[T]) damaged(what string, right func(T) bool, args ...string) {
	f.t.Helper()
	before := len(f.since(0))
	kubectl(f.t, append([]string{"--namespace=" + f.namespace}, args...)...)
	var wrong time.Time
	waitFor(f.t, func(context.Context) string {
		wrong = time.Time{}
		for _, shown := range f.since(before) {
			switch good := shown.is(right); {
			case !good && wrong.IsZero():
				wrong = shown.at
			case good && !wrong.IsZero():
				f.recovered(what, shown.at.Sub(wrong))
				return ""
			}
		}
		return fmt.Sprintf("%s: seen to be damaged: %t, and not to be undone", what, !wrong.IsZero())
	})
}

// recovered prints how long a recovery took, and holds it to the bound.
func (f *film[T]) recovered(what string, took time.Duration) {
	f.t.Helper()
	f.t.Logf("drill: %s after %.2f s", what, took.Seconds())
	if took > bound {
		f.t.Errorf("%s after %s, want at most %s", what, took, bound)
	}
}
