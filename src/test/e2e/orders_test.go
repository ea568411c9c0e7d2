//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// The service of the handbook's drill.
const (
	orderService = "order-service"
	orderImage   = "registry.example.com/order-service:1.2.0"
	// noImage is on no node, and cannot be pulled.
	noImage = "registry.example.com/order-service:1.3.0-broken"
)

var buildOrderImage = sync.OnceValue(func() error {
	return buildImage(context.Background(), orderImage, "orderservice")
})

// installForOrders installs the chart for a namespace whose Pods may be as those of
// a Deployment that an AppAutoscaler has created, which it does not harden.
func installForOrders(t *testing.T, values ...string) *release {
	t.Helper()
	must(t, buildOrderImage())
	r := newRelease(t, values...)
	kubectl(t, "label", "--overwrite", "namespace", r.watched[0], "pod-security.kubernetes.io/enforce=baseline")
	r.upgrade()
	return r
}

// orders makes the AppAutoscaler of the sample.
func (r *release) orders(changes ...func(*exampleappsv1.AppAutoscaler)) *exampleappsv1.AppAutoscaler {
	r.t.Helper()
	content, err := os.ReadFile(root + "/docs/samples/apps_v1_appautoscaler.yaml")
	must(r.t, err)
	autoscaler := &exampleappsv1.AppAutoscaler{}
	must(r.t, yaml.UnmarshalStrict(content, autoscaler))
	autoscaler.Namespace = r.watched[0]
	for _, change := range changes {
		change(autoscaler)
	}
	must(r.t, kube.Create(r.t.Context(), autoscaler))
	return autoscaler
}

// kubectl runs it in the first watched namespace.
func (r *release) kubectl(args ...string) string {
	r.t.Helper()
	return kubectl(r.t, append([]string{"--namespace=" + r.watched[0]}, args...)...)
}

func conditionsOf(object client.Object) []metav1.Condition {
	switch object := object.(type) {
	case *exampleappsv1.AppAutoscaler:
		return object.Status.Conditions
	case *exampleappsv1.MyApp:
		return object.Status.Conditions
	}
	return nil
}

// shows waits until a condition of an AppAutoscaler or a MyApp has a status and a
// reason, seen under the present spec, and returns its message.
func (r *release) shows(object client.Object, conditionType string, status metav1.ConditionStatus, reason string) string {
	r.t.Helper()
	message := ""
	waitFor(r.t, func(ctx context.Context) string {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err.Error()
		}
		found := meta.FindStatusCondition(conditionsOf(object), conditionType)
		if found == nil || found.Status != status || found.Reason != reason || found.ObservedGeneration != object.GetGeneration() {
			return fmt.Sprintf("%s of %s is not %s with %s: %+v", conditionType, object.GetName(), status, reason, conditionsOf(object))
		}
		message = found.Message
		return ""
	})
	return message
}

// tells waits for an event about an object whose note has all the words.
func (r *release) tells(object client.Object, reason string, words ...string) {
	r.t.Helper()
	waitFor(r.t, func(ctx context.Context) string {
		var events eventsv1.EventList
		if err := kube.List(ctx, &events, client.InNamespace(object.GetNamespace())); err != nil {
			return err.Error()
		}
		var told []string
		for i := range events.Items {
			event := &events.Items[i]
			if event.Regarding.UID != object.GetUID() || event.Reason != reason {
				continue
			}
			if holds(event.Note, words) {
				return ""
			}
			told = append(told, event.Note)
		}
		return fmt.Sprintf("no event %s of %s says %q: %q", reason, object.GetName(), words, told)
	})
}

func holds(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
