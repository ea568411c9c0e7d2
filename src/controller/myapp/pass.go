package myapp

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/podtrouble"
)

// pass is what one Reconcile knows. It carries every object that a write
// returned, so that later steps see what earlier ones did.
type pass struct {
	// app is a copy of the object, as the apiserver last returned it.
	app *exampleappsv1.MyApp
	// now is when the pass began.
	now time.Time
	// seen is what the process remembers of the object.
	seen *memories
	// scaler is the AppAutoscaler whose the number of replicas is; nil if it is ours.
	scaler *exampleappsv1.AppAutoscaler
	// deployment and service are what there is; nil for none. Each is fresh once it was
	// read past the cache.
	deployment      *appsv1.Deployment
	service         *corev1.Service
	deploymentFresh bool
	serviceFresh    bool
	// overruled are the differences that others have the last word over.
	overruled []difference
	// trouble is what is wrong with a Pod, once it was looked for.
	trouble podtrouble.Trouble
	looked  bool
	// fault is what failed in this pass.
	fault error
	// events are of what was done in this pass.
	events []happening.Happening
}

func (p *pass) key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.app.Namespace, Name: p.app.Name}
}

// specIsNews reports whether the spec was changed since it was last brought about.
func (p *pass) specIsNews() bool {
	synced := meta.FindStatusCondition(p.app.Status.Conditions, exampleappsv1.ConditionSynced)
	if synced == nil || synced.ObservedGeneration != p.app.Generation {
		return true
	}
	return synced.Status != metav1.ConditionTrue && synced.Reason != exampleappsv1.ReasonContended
}
