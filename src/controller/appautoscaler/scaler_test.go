package appautoscaler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

func TestReplicasAreHandedOverToAHorizontalPodAutoscaler(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	created := w.autoscaler("order", 3, between(2, 9))
	w.wants(3, image)
	scaler := w.scaler("order", bounded(2, 9))
	w.reaches("order", exampleappsv1.StateAutoscaling)
	w.tells("order", "Created", "HorizontalPodAutoscaler order created: it sets 2 to 9 replicas")
	if !metav1.IsControlledBy(scaler, created) {
		t.Errorf("its owners are %+v", scaler.OwnerReferences)
	}
	want := autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: orderService},
		MinReplicas:    new(int32(2)), MaxReplicas: 9,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))},
		}}},
	}
	if diff := cmp.Diff(want, scaler.Spec); diff != "" {
		t.Error(diff)
	}

	w.scale(7)
	w.change("kubectl-set", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "nginx:1" })
	w.wants(7, image)
	w.reaches("order", exampleappsv1.StateAutoscaling)
	if notes := w.notes("order", "ReplicasPutBack"); len(notes) > 0 {
		t.Errorf("replicas were put back: %q", notes)
	}
}

func TestHandingOverAndTakingBackLeavesNoOtherNumberOfReplicasOnTheWay(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	w.autoscaler("order", 5)
	w.reaches("order", exampleappsv1.StateAligned)
	seen := w.replicasSeen()
	w.edit("order", between(2, 9))
	w.scaler("order", exists)
	w.reaches("order", exampleappsv1.StateAutoscaling)
	w.scale(7)
	w.wants(7, image)
	w.edit("order", takenBack)
	w.noScaler("order")
	w.wants(5, image)
	w.reaches("order", exampleappsv1.StateAligned)
	w.tells("order", "ScalerDeleted", "HorizontalPodAutoscaler order deleted: maxReplicas is not declared any more")
	if diff := cmp.Diff([]int32{5, 7, 5}, seen()); diff != "" {
		t.Error(diff)
	}
}

func TestTheReplicasOfAMissingDeploymentAreOnlyABeginning(t *testing.T) {
	w := newWorld(t)
	w.existing(0)
	w.autoscaler("order", 3, between(2, 9), func(a *exampleappsv1.AppAutoscaler) { a.Spec.Image = "" })
	w.scaler("order", exists)
	w.eventually("the Deployment", func() string {
		if got := *w.deployment().Spec.Replicas; got != 3 {
			return fmt.Sprintf("has %d replicas: a HorizontalPodAutoscaler would leave it alone", got)
		}
		return ""
	})
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
	w.scale(0)
	w.look("order")
	if got := *w.deployment().Spec.Replicas; got != 0 {
		t.Errorf("%d replicas, want those that somebody has set", got)
	}
}

func TestAHorizontalPodAutoscalerThatIsDeletedOrEditedIsPutBack(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 3, between(2, 9))
	scaler := w.scaler("order", exists)
	w.must(w.client.Delete(t.Context(), scaler))
	w.scaler("order", func(s *autoscalingv2.HorizontalPodAutoscaler) string {
		if s.UID == scaler.UID {
			return "is the deleted one"
		}
		return ""
	})

	w.rescale("order", "kubectl-edit", func(s *autoscalingv2.HorizontalPodAutoscaler) {
		s.Spec.MaxReplicas = 50
		s.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0))}}
	})
	w.scaler("order", func(s *autoscalingv2.HorizontalPodAutoscaler) string {
		if s.Spec.Behavior != nil {
			return "has a behavior that nobody declared"
		}
		return bounded(2, 9)(s)
	})
	w.tells("order", "ScalerPutBack", "HorizontalPodAutoscaler order: maxReplicas 50 -> 9, set by kubectl-edit at ", "; behavior, set by kubectl-edit at ")

	w.edit("order", between(2, 12))
	w.scaler("order", bounded(2, 12))
	w.tells("order", "ScalerPutBack", "maxReplicas 9 -> 12, as declared")
}

func TestWhatTheKubernetesAPIAddsToAHorizontalPodAutoscalerIsNoDifference(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	w.autoscaler("order", 3, between(2, 9), func(a *exampleappsv1.AppAutoscaler) {
		a.Spec.TargetCPUUtilization, a.Spec.TargetMemoryUtilization = new(int32(60)), new(int32(70))
		a.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(60))}}
	})
	scaler := w.scaler("order", exists)
	if len(scaler.Spec.Metrics) != 2 || len(scaler.Spec.Behavior.ScaleDown.Policies) == 0 {
		t.Errorf("%+v, want two targets, and policies that nobody declared", scaler.Spec)
	}
	w.reaches("order", exampleappsv1.StateAutoscaling)
	for _, restart := range []bool{false, true} {
		if restart {
			w.restart()
		}
		before := len(w.ledger.Writes())
		for range 3 {
			w.look("order")
		}
		writes := slices.DeleteFunc(w.ledger.Writes()[before:], func(write string) bool { return strings.HasPrefix(write, "ask ") })
		if len(writes) > 0 {
			t.Errorf("nothing differs, and there are writes: %q", writes)
		}
	}
	w.rescale("order", "kubectl-edit", func(s *autoscalingv2.HorizontalPodAutoscaler) { s.Spec.Behavior.ScaleDown.Policies[0].Value = 3 })
	w.scaler("order", func(s *autoscalingv2.HorizontalPodAutoscaler) string {
		return cmp.Diff(scaler.Spec, s.Spec)
	})
	w.tells("order", "ScalerPutBack", "behavior, set by kubectl-edit at ")
}

func TestAHorizontalPodAutoscalerOfSomebodyElseIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		scaler string
		spec   func(*exampleappsv1.AppAutoscaler)
	}{
		"which scales the Deployment":                     {"theirs", takenBack},
		"which scales it, where one is declared":          {"theirs", between(2, 9)},
		"which has the name that ours would have as well": {"order", between(2, 9)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.existing(4)
			theirs := &autoscalingv2.HorizontalPodAutoscaler{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: test.scaler},
				Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
					ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: orderService}, MaxReplicas: 4,
				},
			}
			w.must(w.client.Create(t.Context(), theirs))
			w.autoscaler("order", 2, test.spec)
			w.reaches("order", exampleappsv1.StateConflict)
			condition := w.has("order", exampleappsv1.ConditionStalled, metav1.ConditionTrue, exampleappsv1.ReasonForeignScaler)
			if !strings.HasSuffix(condition.Message, ": "+test.scaler) {
				t.Errorf("the message is %q", condition.Message)
			}
			w.tells("order", exampleappsv1.ReasonForeignScaler, test.scaler)
			if got := *w.deployment().Spec.Replicas; got != 4 {
				t.Errorf("%d replicas, want what was there", got)
			}
			w.scaler(test.scaler, func(s *autoscalingv2.HorizontalPodAutoscaler) string {
				return cmp.Diff(theirs.ObjectMeta, s.ObjectMeta)
			})

			w.must(w.client.Delete(t.Context(), theirs))
			w.has("order", exampleappsv1.ConditionStalled, "", "")
			w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
		})
	}
}

func TestAHorizontalPodAutoscalerOfTheSameNameForSomethingElseIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	theirs := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "order"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: orderService}, MaxReplicas: 4,
		},
	}
	w.must(w.client.Create(t.Context(), theirs))
	w.autoscaler("order", 2)
	w.wants(2, image)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
	w.scaler("order", func(s *autoscalingv2.HorizontalPodAutoscaler) string {
		return cmp.Diff(theirs.ObjectMeta, s.ObjectMeta)
	})
}

func TestWhatTheKubernetesAPIRefusesIsToldUntilTheSpecIsAnother(t *testing.T) {
	w := newWorld(t)
	endless := func(a *exampleappsv1.AppAutoscaler) {
		a.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(99999))}}
	}
	w.autoscaler("order", 3, between(2, 9), endless)
	condition := w.has("order", exampleappsv1.ConditionStalled, metav1.ConditionTrue, exampleappsv1.ReasonRefused)
	if !strings.Contains(condition.Message, "stabilizationWindowSeconds") {
		t.Errorf("the message is %q", condition.Message)
	}
	w.reaches("order", exampleappsv1.StateFailed)
	w.wants(3, image)

	w.edit("order", func(a *exampleappsv1.AppAutoscaler) { a.Spec.Behavior = nil })
	w.scaler("order", exists)
	w.has("order", exampleappsv1.ConditionStalled, "", "")

	w.edit("order", endless)
	w.has("order", exampleappsv1.ConditionStalled, metav1.ConditionTrue, exampleappsv1.ReasonRefused)
	w.edit("order", func(a *exampleappsv1.AppAutoscaler) {
		takenBack(a)
		a.Spec.Behavior = nil
	})
	w.noScaler("order")
}

func TestAHorizontalPodAutoscalerThatIsFoughtOverIsContended(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 3, between(2, 9))
	w.scaler("order", exists)
	for i := range int32(5) {
		w.rescale("order", "keda", func(s *autoscalingv2.HorizontalPodAutoscaler) { s.Spec.MaxReplicas = 50 + i })
		w.scaler("order", bounded(2, 9))
	}
	w.reaches("order", exampleappsv1.StateContended)
	condition := w.has("order", exampleappsv1.ConditionContended, metav1.ConditionTrue, exampleappsv1.ReasonContended)
	if !strings.Contains(condition.Message, "horizontalPodAutoscaler (keda)") {
		t.Errorf("the message is %q", condition.Message)
	}
}

func TestAHorizontalPodAutoscalerThatCannotScaleIsTold(t *testing.T) {
	w := newWorld(t)
	w.autoscaler("order", 3, between(2, 9))
	scaler := w.scaler("order", exists)
	tells := func(status corev1.ConditionStatus, reason string) {
		scaler = w.scaler("order", exists)
		scaler.Status = autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: 3, Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{
			Type: autoscalingv2.ScalingActive, Status: status, Reason: reason, Message: "no metrics known", LastTransitionTime: metav1.Now(),
		}}}
		w.must(w.client.Status().Update(t.Context(), scaler))
	}
	tells(corev1.ConditionFalse, "FailedGetResourceMetric")
	condition := w.has("order", exampleappsv1.ConditionScalingInactive, metav1.ConditionTrue, "FailedGetResourceMetric")
	if condition.Message != "no metrics known" {
		t.Errorf("the message is %q", condition.Message)
	}
	tells(corev1.ConditionTrue, "ValidMetricFound")
	w.has("order", exampleappsv1.ConditionScalingInactive, "", "")
}

func TestAHorizontalPodAutoscalerGoesWithItsAppAutoscaler(t *testing.T) {
	w := newWorld(t)
	w.existing(3)
	w.autoscaler("order", 3, between(2, 9))
	w.scaler("order", exists)
	w.must(w.client.Delete(t.Context(), w.get("order")))
	w.noScaler("order")
	if got := w.deployment(); got.DeletionTimestamp != nil {
		t.Error("the Deployment goes as well")
	}
}
