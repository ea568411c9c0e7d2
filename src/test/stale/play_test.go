package stale

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/operator"
	"github.com/example/vmoperator/src/test/scene"
)

// play is a scene whose operator looks through a lens.
type play struct {
	*scene.Scene

	name string
	eyes *eyes
}

// eyes are how an operator sees the cluster.
type eyes struct {
	front *interpose.Proxy
	lens  *interpose.Lens
	// requests holds what the operator asks the apiserver.
	requests *scene.Switchboard
}

func newEyes(t *testing.T) *eyes {
	t.Helper()
	next, err := interpose.Apiserver(plane.Config, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := &eyes{lens: interpose.NewLens(next), requests: &scene.Switchboard{}}
	e.front = scene.Proxy(t, interpose.Options{
		Who: "operator", Next: e.lens, Classify: interpose.Kubernetes, Hook: e.requests.Decide,
	})
	return e
}

// start starts an operator that looks through the eyes. The first namespace is where
// its release lives.
func (e *eyes) start(t *testing.T, namespaces []string) *operator.Operator {
	t.Helper()
	o := operator.Start(t, operator.Options{
		Executable: executable, Config: e.front.Config(), Silent: true,
		Environment: []string{"KUBE_FEATURE_WatchListClient=false"},
		Args: []string{
			"--watch-namespaces=" + strings.Join(namespaces, ","), "--leader-election-namespace=" + namespaces[0],
			"--allow-endpoint-cidrs=127.0.0.0/8", "--zap-log-level=debug", "--max-concurrent-reconciles=30",
		},
	})
	o.WantProbe("/readyz", 200)
	return o
}

func newPlay(t *testing.T, e *eyes, options scene.Options, name string) *play {
	t.Helper()
	options.Kube = kube
	s := &play{name: name, eyes: e, Scene: scene.New(t, options)}
	s.Fronts = []*interpose.Proxy{e.front}
	return s
}

func (s *play) view(resource string) interpose.View {
	return interpose.View{Namespace: s.Namespace, Resource: resource}
}

// vms is what the operator's cache holds of the scene's object.
func (s *play) vms() interpose.View { return s.view("virtualmachines") }

// frozenAt stops the events about the object at the moment of a call: it has had no
// effect yet.
func (s *play) frozenAt(gate *interpose.Gate, act func()) {
	s.T.Helper()
	act()
	s.Arrived(gate)
	s.eyes.lens.Freeze(s.vms())
	gate.Open(interpose.Pass())
}

// recording is the first write of the object's finalizer.
func (s *play) recording() *interpose.Gate {
	return s.eyes.requests.Hold(func(call interpose.Call) bool {
		return call.Namespace == s.Namespace && call.Verb == "patch" && call.Resource == "virtualmachines" && call.Subresource == ""
	})
}

// calling is the first call of an operation.
func (s *play) calling(operation provider.Operation) *interpose.Gate {
	return s.Calls.Hold(func(call interpose.Call) bool { return call.Is(operation) })
}

// edit changes an object, as a user does.
func edit[T client.Object](s *play, object T, change func(T)) {
	s.T.Helper()
	if err := kube.Get(s.T.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.T.Fatal(err)
	}
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		s.T.Fatalf("%T cannot be copied", object)
	}
	change(object)
	if err := kube.Patch(s.T.Context(), object, client.MergeFrom(before)); err != nil {
		s.T.Fatal(err)
	}
}

func (s *play) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.Namespace, Name: name}
}

// current waits until the VM runs, and the operator has seen the object's last
// generation.
func (s *play) current() *computev1.VirtualMachine {
	s.T.Helper()
	return s.Await("a VM of the last generation", func(vm *computev1.VirtualMachine) bool {
		return scene.IsRunning(vm) && vm.Status.ObservedGeneration == vm.Generation
	})
}

// end is the scene's end: all as in an undisturbed scene, and then nothing more.
func (s *play) end(undisturbed []string) {
	s.T.Helper()
	s.current()
	s.AwaitMachines(1)
	var diff string
	operator.WaitFor(s.T, "the state of "+s.Namespace, func(ctx context.Context) bool {
		diff = cmp.Diff(undisturbed, s.face(ctx))
		return diff == ""
	})
	s.WantCalm()
	s.Delete()
	s.Gone()
	s.AwaitMachines(0)
	s.WantOneAtATime()
}

// face is what a user sees of the object and its children, but for what differs
// from one VM to another.
func (s *play) face(ctx context.Context) []string {
	vm, err := s.Get(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	seen := []string{"phase " + vm.Status.Phase, "service " + vm.Status.ServiceName}
	for _, condition := range vm.Status.Conditions {
		seen = append(seen, strings.Join([]string{condition.Type, string(condition.Status), condition.Reason, condition.Message}, " "))
	}
	spec, err := json.Marshal(vm.Spec)
	if err != nil {
		return []string{err.Error()}
	}
	seen = append(seen, "spec "+string(spec), "finalizers "+strings.Join(vm.Finalizers, ","))
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.ServiceList{}, &discoveryv1.EndpointSliceList{}} {
		names, err := ownedBy(ctx, list, vm)
		if err != nil {
			return []string{err.Error()}
		}
		seen = append(seen, names...)
	}
	return seen
}

// ownedBy are the kinds and names of an object's children.
func ownedBy(ctx context.Context, list client.ObjectList, vm *computev1.VirtualMachine) ([]string, error) {
	if err := kube.List(ctx, list, client.InNamespace(vm.Namespace)); err != nil {
		return nil, err
	}
	var names []string
	add := func(kind string, object client.Object) {
		if metav1.IsControlledBy(object, vm) {
			names = append(names, kind+" "+object.GetName())
		}
	}
	switch list := list.(type) {
	case *corev1.SecretList:
		for i := range list.Items {
			add("Secret", &list.Items[i])
		}
	case *corev1.ServiceList:
		for i := range list.Items {
			add("Service", &list.Items[i])
		}
	case *discoveryv1.EndpointSliceList:
		for i := range list.Items {
			add("EndpointSlice", &list.Items[i])
		}
	}
	slices.Sort(names)
	return names, nil
}
