// Package happening tells what happened to an object, in an event and a line of
// the log each.
package happening

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/vmoperator/src/controller/condition"
)

// Happening is something that happened, to be told in one event.
type Happening struct {
	Reason  string
	Note    string
	Warning bool
	// About is the one other object concerned, in the version that it had. Events of
	// one reason about the same versions are joined into one, whatever their notes say.
	About runtime.Object
}

// Tell sends and logs what happened to an object.
func Tell(ctx context.Context, recorder events.EventRecorder, object runtime.Object, all []Happening) {
	for _, h := range all {
		kind := corev1.EventTypeNormal
		if h.Warning {
			kind = corev1.EventTypeWarning
		}
		log.FromContext(ctx).Info(h.Note, "reason", h.Reason)
		recorder.Eventf(object, h.About, kind, h.Reason, "Reconcile", "%s", condition.Shorten(h.Note))
	}
}
