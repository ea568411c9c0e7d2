package appautoscaler

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/cachelag"
	"github.com/example/vmoperator/src/controller/contention"
	"github.com/example/vmoperator/src/controller/fieldmanager"
)

// The fields that are put back.
const (
	fieldReplicas = "replicas"
	fieldImage    = "image"
	fieldScaler   = "horizontalPodAutoscaler"
)

// The bounds of a HorizontalPodAutoscaler, which is put back as a whole.
const (
	fieldLeast = "minReplicas"
	fieldMost  = "maxReplicas"
)

// memories are what this process remembers of one object. Forgetting them is
// always safe.
type memories struct {
	// lag is how far the cache is behind our own writes to the object.
	lag cachelag.Lag
	// failures counts the passes in a row that failed.
	failures int
	// corrections are how often each field was put back of late.
	corrections map[string]*corrections
	// refused is what the Kubernetes API refuses for good.
	refused *refusal
	// understood is what the Kubernetes API makes of the declared HorizontalPodAutoscaler.
	understood *understood
}

// refusal is what the Kubernetes API said of one generation.
type refusal struct {
	generation int64
	message    string
	at         time.Time
}

// fields are all that is put back.
func fields() []string { return []string{fieldReplicas, fieldImage, fieldScaler} }

// corrections are how often a field was put back, and after whom.
type corrections struct {
	*contention.History

	// other is who had set it last.
	other fieldmanager.Entry
}

// of returns the corrections of a field.
func (m *memories) of(field string) *corrections {
	if m.corrections[field] == nil {
		m.corrections[field] = &corrections{History: &contention.History{}}
	}
	return m.corrections[field]
}

// recall returns the memories of an object. A fight that the status tells of goes
// on, although this process has not seen its beginning.
func (r *Reconciler) recall(autoscaler *exampleappsv1.AppAutoscaler) *memories {
	return r.memory.Recall(autoscaler, func() *memories {
		m := &memories{corrections: map[string]*corrections{}}
		if meta.IsStatusConditionTrue(autoscaler.Status.Conditions, exampleappsv1.ConditionContended) {
			for _, field := range fields() {
				m.corrections[field] = &corrections{History: contention.Resumed(r.Now())}
			}
		}
		return m
	})
}
