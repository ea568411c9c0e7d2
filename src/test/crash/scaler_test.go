package crash

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// loadAsksFor is the HorizontalPodAutoscaler's controller.
func loadAsksFor(replicas int32) step { return scaleAs("kube-controller-manager", replicas) }

// editScaler edits what is the AppAutoscaler's to declare.
func editScaler(w *world) error {
	scaler := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := kube.Get(w.t.Context(), w.named(keeper), scaler); err != nil {
		return err
	}
	before := scaler.DeepCopy()
	scaler.Spec.MaxReplicas = 50
	return kube.Patch(w.t.Context(), scaler, client.MergeFrom(before), client.FieldOwner("kubectl-edit"))
}

func deleteScaler(w *world) error {
	return kube.Delete(w.t.Context(), &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: w.meta(keeper)})
}

// scalerAllows waits for a HorizontalPodAutoscaler with an upper bound.
func scalerAllows(most int32) step {
	return func(w *world) error {
		return w.await("the HorizontalPodAutoscaler", func(ctx context.Context) (bool, error) {
			scaler := &autoscalingv2.HorizontalPodAutoscaler{}
			err := kube.Get(ctx, w.named(keeper), scaler)
			return err == nil && scaler.Spec.MaxReplicas == most, client.IgnoreNotFound(err)
		})
	}
}

func scalerGone(w *world) error {
	return w.awaitGone(&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: w.meta(keeper)})
}
