package appautoscaler_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/contention"
)

// look makes the controller look at an object again, and waits until it has.
func (w *world) look(name string) {
	w.t.Helper()
	before := w.ledger.Gets("*v1.AppAutoscaler")
	w.pause(name, fmt.Sprint("no: ", before))
	w.eventually("a pass", func() string {
		if w.ledger.Gets("*v1.AppAutoscaler") == before {
			return "has not begun"
		}
		return ""
	})
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	w.autoscaler("order", 3)
	w.reaches("order", exampleappsv1.StateAligned)
	w.look("order")
	before := len(w.ledger.Writes())
	for range 10 {
		w.clock.Step(5 * time.Minute)
		w.look("order")
	}
	w.restart()
	w.look("order")
	w.look("order")
	if after := len(w.ledger.Writes()); after != before {
		t.Errorf("written while all was as declared: %q", w.ledger.Writes()[before:])
	}
	if got := w.deployment().Generation; got != 1 {
		t.Errorf("the Deployment has generation %d, want 1", got)
	}
}

func TestAFieldThatIsFoughtOverIsPutBackSeldomAndNeverGivenUp(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 5)
	w.wants(5, image)
	for range contention.Limit {
		w.scale(2)
		w.wants(5, image)
	}
	condition := w.has("order", exampleappsv1.ConditionContended, metav1.ConditionTrue, exampleappsv1.ReasonContended)
	if !strings.Contains(condition.Message, "replicas (kubectl via scale)") {
		t.Errorf("the message is %q", condition.Message)
	}
	w.reaches("order", exampleappsv1.StateContended)
	w.tells("order", exampleappsv1.ReasonContended)

	w.scale(2)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionFalse, exampleappsv1.ReasonContended)
	w.look("order")
	w.wants(2, image)
	w.restart()
	w.look("order")
	w.wants(2, image)

	w.clock.Step(contention.Rest)
	w.look("order")
	w.wants(5, image)
	w.has("order", exampleappsv1.ConditionContended, metav1.ConditionTrue, exampleappsv1.ReasonContended)

	w.clock.Step(contention.Window)
	w.look("order")
	w.has("order", exampleappsv1.ConditionContended, "", "")
}

func TestLimitsThatKeepPodsFromStartingAreToldWithWhoSetThem(t *testing.T) {
	w := newWorld(t)
	stop := w.kubelet(running)
	w.autoscaler("order", 2)
	w.reaches("order", exampleappsv1.StateAligned)
	stop()

	w.kubelet(func(pod *corev1.Pod) {
		if len(pod.Spec.Containers[0].Resources.Limits) > 0 {
			unschedulable(pod)
		}
	})
	w.change("kubectl-edit", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64")}
	})
	condition := w.has("order", exampleappsv1.ConditionReady, metav1.ConditionFalse, corev1.PodReasonUnschedulable)
	if !strings.Contains(condition.Message, "Insufficient cpu") {
		t.Errorf("the message is %q", condition.Message)
	}
	w.tells("order", corev1.PodReasonUnschedulable, "Insufficient cpu")
	w.tells("order", "ResourcesSet", "container order-service has resources.limits, set by kubectl-edit at ")
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
	if got := w.deployment().Spec.Template.Spec.Containers[0].Resources.Limits; len(got) == 0 {
		t.Error("the limits are not the AppAutoscaler's, and were removed")
	}
}

func TestRequestsThatNoNodeHasAreToldBesideTheLimitsOfAnother(t *testing.T) {
	w := newWorld(t)
	w.kubelet(unschedulable)
	w.autoscaler("order", 0)
	w.wants(0, image)
	w.change("vpa", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	})
	w.change("kubectl-set", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64")}
	})
	w.edit("order", func(a *exampleappsv1.AppAutoscaler) { *a.Spec.Replicas = 1 })
	w.has("order", exampleappsv1.ConditionReady, metav1.ConditionFalse, corev1.PodReasonUnschedulable)
	w.tells("order", "ResourcesSet", "container order-service has resources.limits, set by vpa at ")
	w.tells("order", "ResourcesSet", "; container order-service has resources.requests, set by kubectl-set at ")
}

func TestAnImageThatCannotBePulledIsToldOnce(t *testing.T) {
	w := newWorld(t)
	w.kubelet(badImage())
	w.autoscaler("order", 1)
	condition := w.has("order", exampleappsv1.ConditionReady, metav1.ConditionFalse, "ImagePullBackOff")
	if !strings.Contains(condition.Message, image) {
		t.Errorf("the message is %q", condition.Message)
	}
	w.eventually("status.replicas", func() string {
		if got := w.get("order").Status.Replicas; got != 1 {
			return fmt.Sprintf("is %d, want 1", got)
		}
		return ""
	})
	before := len(w.ledger.Writes())
	for range 5 {
		w.look("order")
	}
	if all := w.ledger.Writes()[before:]; len(all) > 0 {
		t.Errorf("the trouble stays the same, and there are writes: %q", all)
	}
}

func TestResourcesAreNotBlamedForATroubleThatTheyCannotCause(t *testing.T) {
	w := newWorld(t)
	w.kubelet(badImage())
	w.existing(1, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	})
	w.autoscaler("order", 1)
	w.tells("order", "ImagePullBackOff", "does not run")
	if notes := w.notes("order", "ResourcesSet"); len(notes) > 0 {
		t.Errorf("told as well: %q", notes)
	}
}

func TestPodsThatCannotBeCreatedAreSeen(t *testing.T) {
	w := newWorld(t)
	w.must(w.client.Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "large"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypePod, Min: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		}}},
	}))
	w.autoscaler("order", 1)
	condition := w.has("order", exampleappsv1.ConditionReady, metav1.ConditionFalse, "FailedCreate")
	if !strings.Contains(condition.Message, "minimum memory") {
		t.Errorf("the message is %q", condition.Message)
	}
}

var errRefused = errors.New("refused by a test")

func TestThreeFailuresInARowAreTold(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 2)
	w.wants(2, image)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
	w.ledger.Fail(func(write string) error {
		if strings.HasSuffix(write, " status") {
			return nil
		}
		return errRefused
	})
	w.scale(1)
	w.reaches("order", exampleappsv1.StateFailed)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionFalse, exampleappsv1.ReasonReconcileFailed)
	w.tells("order", exampleappsv1.ReasonReconcileFailed, errRefused.Error())
	w.ledger.Fail(nil)
	w.wants(2, image)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
	if notes := w.notes("order", exampleappsv1.ReasonReconcileFailed); len(notes) != 1 {
		t.Errorf("told %d times: %q", len(notes), notes)
	}
}

func TestEachPassWritesTheStatusOnceAtMost(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	w.autoscaler("order", 1)
	w.reaches("order", exampleappsv1.StateAligned)
	all := w.ledger.Writes()
	if got := len(slices.DeleteFunc(all, func(write string) bool { return write != "create *v1.Deployment" })); got != 1 {
		t.Errorf("%d creations: %q", got, w.ledger.Writes())
	}
}
