package labeller

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/contention"
	"github.com/example/vmoperator/src/controller/labeller/decide"
	"github.com/example/vmoperator/src/metrics"
)

// Reasons of events.
const (
	// ReasonLabelReplaced means that the label had another value.
	ReasonLabelReplaced = "LabelReplaced"
	// ReasonLabelContended means that somebody keeps changing the label back.
	ReasonLabelContended = "LabelContended"
)

// act carries out what was decided: at most one write.
func (r *Reconciler) act(ctx context.Context, deployment *metav1.PartialObjectMetadata, action decide.Action, now time.Time) error {
	switch action {
	case decide.None, decide.Wait:
		return nil
	case decide.SetLabel:
		return r.setLabel(ctx, deployment, now)
	default:
		return fmt.Errorf("action %s is not known", action)
	}
}

// setLabel is bound to the version that was read: whoever takes the Deployment out
// of the selection meanwhile must not find it labelled all the same.
func (r *Reconciler) setLabel(ctx context.Context, deployment *metav1.PartialObjectMetadata, now time.Time) error {
	before := deployment.DeepCopy()
	old, had := deployment.Labels[r.Key]
	deployment.Labels = maps.Clone(deployment.Labels)
	if deployment.Labels == nil {
		deployment.Labels = map[string]string{}
	}
	deployment.Labels[r.Key] = r.Value
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, deployment, patch, client.FieldOwner(computev1.FieldOwner)); err != nil {
		return client.IgnoreNotFound(err)
	}
	contended, began := r.memory.corrected(client.ObjectKeyFromObject(deployment), now)
	metrics.CountLabelSet(contended)
	log.FromContext(ctx).Info("set the label", "key", r.Key, "value", r.Value, "replaced", old)
	if had {
		r.tell(deployment, corev1.EventTypeNormal, ReasonLabelReplaced, fmt.Sprintf("label %s was %q and is %q now", r.Key, old, r.Value))
	}
	if began {
		r.tell(deployment, corev1.EventTypeWarning, ReasonLabelContended, fmt.Sprintf(
			"label %s was set %d times within %s: somebody keeps changing it; it is set again at most every %s from now on",
			r.Key, contention.Limit, contention.Window, contention.Rest,
		))
	}
	return nil
}

func (r *Reconciler) tell(deployment *metav1.PartialObjectMetadata, kind, reason, note string) {
	r.Recorder.Eventf(deployment, nil, kind, reason, "Label", "%s", note)
}
