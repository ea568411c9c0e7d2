package appautoscaler

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/podtrouble"
)

// pass is what one Reconcile knows. It carries every object that a write
// returned, so that later steps see what earlier ones did.
type pass struct {
	// autoscaler is a copy of the object, as the apiserver last returned it.
	autoscaler *exampleappsv1.AppAutoscaler
	// now is when the pass began.
	now time.Time
	// plan is which numbers count at that time, and which ones next.
	plan plan
	// seen is what the process remembers of the object.
	seen *memories
	// deployment is the Deployment; nil if there is none, or none was read yet.
	deployment *appsv1.Deployment
	// fresh: deployment was read past the cache, or is what a write returned.
	fresh bool
	// wanted is how many Pods there should be.
	wanted wanted
	// scaler is the HorizontalPodAutoscaler of the object's name; nil if there is none,
	// or none was read yet. It is fresh once it was read past the cache.
	scaler      *autoscalingv2.HorizontalPodAutoscaler
	scalerFresh bool
	// rival is a HorizontalPodAutoscaler of somebody else.
	rival string
	// trouble is what is wrong with the Pods, once this pass has looked at them.
	trouble podtrouble.Trouble
	looked  bool
	// setters say who has set the resources that the Pods in trouble may lack, once
	// this pass has looked.
	setters []string
	// fault is the read or write of this pass that failed.
	fault error
	// events are of what was done in this pass.
	events []happening.Happening
}

func newPass(autoscaler *exampleappsv1.AppAutoscaler, now time.Time, seen *memories) *pass {
	plan := planned(&autoscaler.Spec, now)
	return &pass{autoscaler: autoscaler.DeepCopy(), now: now, seen: seen, plan: plan, wanted: wantedBy(autoscaler, plan.numbers)}
}

func (p *pass) deploymentKey() types.NamespacedName {
	return types.NamespacedName{Namespace: p.autoscaler.Namespace, Name: p.autoscaler.Spec.DeploymentName}
}

// specIsNews reports whether the spec was changed since it was last brought about.
func (p *pass) specIsNews() bool {
	synced := meta.FindStatusCondition(p.autoscaler.Status.Conditions, exampleappsv1.ConditionSynced)
	return synced == nil || synced.ObservedGeneration != p.autoscaler.Generation
}
