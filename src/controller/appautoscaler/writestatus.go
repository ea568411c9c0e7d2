package appautoscaler

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// writeStatus stores the status if it differs from what is stored. It is bound to
// the version that the pass has read: of two passes, the later one is right.
func (r *Reconciler) writeStatus(ctx context.Context, p *pass, next exampleappsv1.AppAutoscalerStatus) error {
	if equality.Semantic.DeepEqual(p.autoscaler.Status, next) {
		return nil
	}
	changed := p.autoscaler.DeepCopy()
	changed.Status = next
	patch := client.MergeFromWithOptions(p.autoscaler, client.MergeFromWithOptimisticLock{})
	err := r.Client.Status().Patch(ctx, changed, patch, client.FieldOwner(exampleappsv1.FieldOwner))
	switch {
	case apierrors.IsNotFound(err):
		// It is gone, and so is whoever would read its status.
		return nil
	case err != nil:
		return fmt.Errorf("writing the status: %w", err)
	}
	p.autoscaler = changed
	p.seen.version = changed.ResourceVersion
	return nil
}
