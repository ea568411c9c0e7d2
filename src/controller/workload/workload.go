// Package workload is what the controllers of AppAutoscalers and MyApps have in
// common: the way of a pass, and what conditions tell of a Deployment.
package workload

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// maxSteps is more than any pass takes: one that takes more goes in circles.
const maxSteps = 12

// Decision is what to do next.
type Decision interface {
	// Ends reports whether the pass is over with this decision.
	Ends() bool
	// Log is what the log says of it: names and values.
	Log() []any
}

// Run observes, decides and acts until there is nothing left to do now. It returns
// what was observed and decided last. What act returns ends the pass: a failure
// that the next observation should tell of is not for it to return.
func Run[S any, D Decision](
	ctx context.Context, observe func(context.Context) S, decide func(S) D, act func(context.Context, D) error,
) (state S, decision D, err error) {
	for range maxSteps {
		state = observe(ctx)
		decision = decide(state)
		log.FromContext(ctx).V(1).Info("decided", decision.Log()...)
		if decision.Ends() {
			return state, decision, nil
		}
		if err := act(ctx, decision); err != nil {
			return state, decision, err
		}
	}
	return state, decision, fmt.Errorf("no end after %d steps", maxSteps)
}

// Older reports whether of two AppAutoscalers for one Deployment the first has the
// older claim. Of two that were created in the same second, it is the first by name.
func Older(a, b *exampleappsv1.AppAutoscaler) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}

// WriteStatus stores the status of changed if it differs from that of before. It is
// bound to the version that the pass has read: of two passes, the later one is
// right. It reports whether something was stored; an object that is gone has
// nobody who would read its status.
func WriteStatus(ctx context.Context, writer client.Client, before, changed client.Object) (stored bool, err error) {
	if equality.Semantic.DeepEqual(before, changed) {
		return false, nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err = writer.Status().Patch(ctx, changed, patch, client.FieldOwner(exampleappsv1.FieldOwner))
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("writing the status: %w", err)
	}
	return true, nil
}
