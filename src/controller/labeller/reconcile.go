// Package labeller keeps one label on the Deployments of the watched namespaces
// that a selector picks.
//
// It knows their metadata only, writes only where the label differs, and never
// takes the label away: a Deployment that is not selected any more keeps it, and so
// do all when the labeller is turned off.
package labeller

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/controller/labeller/decide"
)

// DefaultConcurrency is how many Deployments are worked on at once.
const DefaultConcurrency = 2

// conflictPause is time for the cache to show the version that was met.
const conflictPause = 200 * time.Millisecond

// Reconciler keeps the label. All fields but MaxConcurrentReconciles are needed.
type Reconciler struct {
	Rule

	// Client reads from the cache, which holds the metadata of Deployments, and
	// writes.
	Client client.Client
	// Recorder sends events.
	Recorder events.EventRecorder
	// Now is the time.
	Now func() time.Time
	// MaxConcurrentReconciles is the number of workers; 0 means DefaultConcurrency.
	MaxConcurrentReconciles int

	memory memory
}

// Deployment is what the cache holds of a Deployment for the labeller.
func Deployment() *metav1.PartialObjectMetadata {
	deployment := &metav1.PartialObjectMetadata{}
	deployment.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	return deployment
}

// Reconcile sets the label of one Deployment, if it must.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	deployment := Deployment()
	if err := r.Client.Get(ctx, request.NamespacedName, deployment); err != nil {
		if apierrors.IsNotFound(err) {
			r.memory.forget(request.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the Deployment: %w", err)
	}
	now := r.Now()
	wait := r.memory.wait(request.NamespacedName, now)
	action := decide.Decide(r.observe(deployment, wait))
	err := r.act(ctx, deployment, action, now)
	return toResult(action, wait, err)
}

// observe reads, and only reads.
func (r *Reconciler) observe(deployment *metav1.PartialObjectMetadata, wait time.Duration) decide.State {
	s := decide.State{
		Live:     deployment.DeletionTimestamp.IsZero(),
		Selected: r.Selector.Matches(labels.Set(deployment.Labels)),
		Rested:   wait == 0,
	}
	switch value, present := deployment.Labels[r.Key]; {
	case !present:
		s.Label = decide.Missing
	case value != r.Value:
		s.Label = decide.Other
	}
	return s
}

// toResult says when to look again: the only place that does.
func toResult(action decide.Action, wait time.Duration, err error) (ctrl.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	case err != nil:
		return ctrl.Result{}, err
	case action == decide.Wait:
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	return ctrl.Result{}, nil
}
