package crash

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// unmoved has the operator look at all that is as it should be: it must write
// nothing.
func (w *world) unmoved() error {
	before := w.effects()
	if err := w.lookAgain(); err != nil {
		return err
	}
	if after := w.effects(); len(after) > len(before) {
		return &harmed{Stuck, fmt.Sprintf("it writes though all is as declared: %v", after[len(before):])}
	}
	return nil
}

// effects are all that the operator has written in the story's namespace.
func (w *world) effects() []string {
	var all []string
	for _, entry := range w.record.Entries() {
		if IsEffect(entry.Call, w.namespace) {
			all = append(all, entry.String())
		}
	}
	return all
}

// lookAgain has the operator look at each AppAutoscaler and MyApp, and waits until
// it has. Looks at one object come one after the other, so the first of two is over
// when the second has begun.
func (w *world) lookAgain() error {
	var autoscalers exampleappsv1.AppAutoscalerList
	if err := kube.List(w.t.Context(), &autoscalers, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	for i := range autoscalers.Items {
		if err := w.pokeTwice(&autoscalers.Items[i], "appautoscaler"); err != nil {
			return err
		}
	}
	var apps exampleappsv1.MyAppList
	if err := kube.List(w.t.Context(), &apps, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	for i := range apps.Items {
		if err := w.pokeTwice(&apps.Items[i], "myapp"); err != nil {
			return err
		}
	}
	return nil
}

// pokeTwice changes an annotation whose change has an object looked at, and which
// means nothing with these values.
func (w *world) pokeTwice(object client.Object, controller string) error {
	looks := func() int {
		return len(w.operator.Lines(`"decided"`, fmt.Sprintf(`"controller":%q`, controller), fmt.Sprintf(`"name":%q`, object.GetName())))
	}
	for _, value := range []string{"no", "false"} {
		count := looks()
		before, isObject := object.DeepCopyObject().(client.Object)
		if !isObject {
			return fmt.Errorf("%T is no object", object)
		}
		annotations := metav1.ObjectMeta{Annotations: object.GetAnnotations()}
		metav1.SetMetaDataAnnotation(&annotations, exampleappsv1.PausedAnnotation, value)
		object.SetAnnotations(annotations.Annotations)
		if err := kube.Patch(w.t.Context(), object, client.MergeFrom(before)); err != nil {
			return err
		}
		err := w.await("a look at "+object.GetName(), func(context.Context) (bool, error) { return looks() > count, nil })
		if err != nil {
			return err
		}
	}
	return nil
}
