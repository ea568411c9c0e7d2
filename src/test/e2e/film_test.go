//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// bound is what the handbook allows for a recovery: 10 to 20 s.
const bound = 20 * time.Second

// frame is a Deployment as a watch has shown it.
type frame struct {
	at time.Time
	// deployment is nil when it was gone.
	deployment *appsv1.Deployment
}

// film is what became of a Deployment, version by version: a look now and then
// would miss what is put back at once.
type film struct {
	t         *testing.T
	namespace string
	name      string

	mu     sync.Mutex
	frames []frame
}

// newFilm goes on until the test ends.
func newFilm(t *testing.T, namespace, name string) *film {
	t.Helper()
	f := &film{t: t, namespace: namespace, name: name}
	watcher, err := clientset.AppsV1().Deployments(namespace).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	must(t, err)
	go func() {
		for event := range watcher.ResultChan() {
			f.add(event)
		}
	}()
	return f
}

func (f *film) add(event watch.Event) {
	deployment, ok := event.Object.(*appsv1.Deployment)
	if !ok {
		return
	}
	if event.Type == watch.Deleted {
		deployment = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frames = append(f.frames, frame{at: time.Now(), deployment: deployment})
}

// since are the frames after the first ones, which are so many.
func (f *film) since(count int) []frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frames[count:]
}

// deploymentOf says how a Deployment should be.
type deploymentOf func(*appsv1.Deployment) bool

// declares is a Deployment with so many replicas of the image.
func declares(replicas int32, image string) deploymentOf {
	return func(d *appsv1.Deployment) bool {
		return *d.Spec.Replicas == replicas && d.Spec.Template.Spec.Containers[0].Image == image
	}
}

// damaged does something to the Deployment with kubectl, and waits until the film
// shows that it was done, and then that it is undone. The time between is printed,
// and may not exceed the bound.
func (f *film) damaged(what string, right deploymentOf, args ...string) {
	f.t.Helper()
	before := len(f.since(0))
	kubectl(f.t, append([]string{"--namespace=" + f.namespace}, args...)...)
	var wrong time.Time
	waitFor(f.t, func(context.Context) string {
		wrong = time.Time{}
		for _, shown := range f.since(before) {
			switch good := shown.deployment != nil && right(shown.deployment); {
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
func (f *film) recovered(what string, took time.Duration) {
	f.t.Helper()
	f.t.Logf("drill: %s after %.2f s", what, took.Seconds())
	if took > bound {
		f.t.Errorf("%s after %s, want at most %s", what, took, bound)
	}
}
