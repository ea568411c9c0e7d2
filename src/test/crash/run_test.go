package crash

import (
	"context"
	"errors"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// outcome is what a run came to.
type outcome struct {
	end     End
	effects []Effect
	reached bool
	err     error
}

// run tells a scenario. A disturbed run must come to the end of the undisturbed
// one; a nil end is that of an undisturbed run, which must only be stable.
func (w *world) run(s scenario, end End) outcome {
	err := w.tell(s.before)
	if err == nil && len(s.before) > 0 {
		err = w.rest(s)
	}
	var got outcome
	if err == nil {
		w.saboteur.begin()
		err = w.tell(s.story)
	}
	if err == nil {
		got.end, err = w.settle(end)
	}
	if err == nil && s.workload() {
		err = errors.Join(w.unmoved(), w.judge(s))
	}
	got.effects = w.saboteur.recorded()
	got.reached = w.saboteur.reached() != nil
	w.saboteur.end()
	if err == nil && got.reached && w.kind == Minimal && w.saboteur.point.Effect.Creates() && len(w.asked) == 0 {
		err = &harmed{Stuck, "a POST went unanswered at a provider that cannot tell, and nobody was asked"}
	}
	if err == nil {
		err = w.clear()
	}
	got.err = errors.Join(w.auditor.first(), err)
	return got
}

// rest waits until nothing of what was told so far goes on.
func (w *world) rest(s scenario) error {
	if s.workload() {
		return w.lookAgain()
	}
	return w.await("a calm before the story", func(context.Context) (bool, error) { return w.calm(), nil })
}

func (w *world) tell(steps []step) error {
	for _, step := range steps {
		if err := step(w); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for the end, and for nothing to change any more, and returns it.
func (w *world) settle(want End) (End, error) {
	var got End
	err := w.await("a stable end", func(ctx context.Context) (bool, error) {
		if !w.calm() || w.pending() {
			return false, nil
		}
		now, err := w.end(ctx)
		if err != nil {
			return false, err
		}
		got = now
		return want == nil || w.abandoned || cmp.Equal(want, got), nil
	})
	if err == nil && w.abandoned {
		return got, vmGone(w)
	}
	if stuck, is := errors.AsType[*harmed](err); is && stuck.harm == Stuck {
		if !w.calm() {
			return got, &harmed{Stuck, "the writes do not cease"}
		}
		return got, &harmed{Stuck, "the end differs from the undisturbed run's (-want +got):\n" + cmp.Diff(want, got)}
	}
	return got, err
}

// pending reports whether a held effect is yet to be dealt with.
func (w *world) pending() bool {
	point := w.saboteur.point
	return point != nil && (w.saboteur.held() && w.restarted < 0 || point.Mode == Late && w.restarted >= 0 && !w.delivered)
}

// end reads the state as it is.
func (w *world) end(ctx context.Context) (End, error) {
	err := kube.Get(ctx, types.NamespacedName{Name: w.namespace}, &corev1.Namespace{})
	if apierrors.IsNotFound(err) {
		return End{"namespace": "gone", "VMs": len(w.fake.Live())}, nil
	}
	if err != nil {
		return nil, err
	}
	var objects []unstructured.Unstructured
	for _, kind := range []schema.GroupVersionKind{
		computev1.GroupVersion.WithKind("VirtualMachineList"), computev1.GroupVersion.WithKind("ProviderConfigList"),
		corev1.SchemeGroupVersion.WithKind("SecretList"), corev1.SchemeGroupVersion.WithKind("ServiceList"),
		discoveryv1.SchemeGroupVersion.WithKind("EndpointSliceList"), appsv1.SchemeGroupVersion.WithKind("DeploymentList"),
		autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscalerList"),
		exampleappsv1.GroupVersion.WithKind("AppAutoscalerList"), exampleappsv1.GroupVersion.WithKind("MyAppList"),
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := kube.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
			return nil, err
		}
		objects = append(objects, list.Items...)
	}
	return Normalise(map[string]string{"<namespace>": w.namespace, "<endpoint>": w.cloud.URL()}, objects, w.fake.Live()), nil
}

// clear deletes what is left: no VM may be left with it.
func (w *world) clear() error {
	w.fake.SetSlowDelete(false)
	w.fake.Finish()
	if err := client.IgnoreNotFound(deleteVM(w)); err != nil {
		return err
	}
	if err := vmGone(w); err != nil {
		return err
	}
	if left := w.fake.Live(); len(left) > 0 {
		return &harmed{Leaked, "VMs are left at the provider though their object is gone"}
	}
	return nil
}
