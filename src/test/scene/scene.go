package scene

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
)

// PollInterval is how often a settled VM is looked at in scenes.
const PollInterval = 2 * time.Second

// Name is that of the scene's object.
const Name = "web"

// Options say what a scene is made of.
type Options struct {
	// Kube has the rights of a user who may do everything.
	Kube client.Client
	// Provider is where the VMs are. Scenes may share one.
	Provider *mockprovider.Provider
	// Asks is true if the provider cannot repeat a POST, so that a person is asked.
	Asks bool
	// Config changes the ProviderConfig before it is made; nil for not at all.
	Config func(*computev1.ProviderConfig)
}

// Scene is one object, and a ProviderConfig, in a namespace of its own.
type Scene struct {
	Options

	// T is the present test's: a scene may be played in several, one after the other.
	T *testing.T
	// Namespace is the scene's own.
	Namespace string
	// Door stands before the provider, and Calls holds what comes to it.
	Door  *interpose.Proxy
	Calls *Switchboard
	// Fronts stand between the apiserver and those whose writes count.
	Fronts []*interpose.Proxy
	// UIDs are those of the objects that the scene has had.
	UIDs []types.UID
}

// New makes the scene's namespace, and a ProviderConfig that leads to the
// provider. Its way to the provider is open until the test ends.
func New(t *testing.T, options Options) *Scene {
	t.Helper()
	s := &Scene{Options: options, T: t, Namespace: Namespace(t, options.Kube), Calls: &Switchboard{}}
	next, err := interpose.Server(s.Provider.URL())
	if err != nil {
		t.Fatal(err)
	}
	s.Door = Proxy(t, interpose.Options{
		Who: s.Namespace, Next: next, Classify: interpose.Contract, Hook: s.Calls.Decide,
	})
	s.create(builders.ProviderConfig(s.Namespace, computev1.DefaultProviderConfig, s.Door.URL(), func(config *computev1.ProviderConfig) {
		config.Spec.PollInterval = &metav1.Duration{Duration: PollInterval}
		if options.Config != nil {
			options.Config(config)
		}
	}))
	return s
}

// Namespace makes a namespace and returns its name.
func Namespace(t *testing.T, kube client.Client) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "scene-"}}
	if err := kube.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	return made.Name
}

// Proxy starts a proxy that ends with the test.
func Proxy(t *testing.T, options interpose.Options) *interpose.Proxy {
	t.Helper()
	proxy, err := interpose.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	return proxy
}

// Provider starts a mock provider that makes VMs at once and ends with the test.
func Provider(t *testing.T, args ...string) *mockprovider.Provider {
	t.Helper()
	p, err := mockprovider.Start(t.Context(), mockprovider.Options{
		Args: append([]string{"--enable-faults", "--provision-seconds=0"}, args...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// ShowLogs shows what operators say of this scene, last of all, if the present
// test fails: they say much more of others.
func (s *Scene) ShowLogs(operators map[string]*operator.Operator) {
	const most = 40
	s.T.Cleanup(func() {
		if !s.T.Failed() {
			return
		}
		for name, o := range operators {
			lines := o.Lines(`"` + s.Namespace + `"`)
			s.T.Logf("the %s operator said of %s:\n%s", name, s.Namespace, strings.Join(lines[max(len(lines)-most, 0):], "\n"))
		}
	})
}

func (s *Scene) create(object client.Object) {
	s.T.Helper()
	if err := s.Kube.Create(s.T.Context(), object); err != nil {
		s.T.Fatal(err)
	}
}

// Arrived waits until a call is at a gate.
func (s *Scene) Arrived(gate *interpose.Gate) {
	s.T.Helper()
	select {
	case <-gate.Arrived():
	case <-time.After(operator.Patience):
		s.T.Fatalf("in %s nothing came to the gate", s.Namespace)
	}
}

// Ready waits until the provider may be used.
func (s *Scene) Ready() {
	s.T.Helper()
	operator.WaitFor(s.T, "the ProviderConfig of "+s.Namespace, func(ctx context.Context) bool {
		config := &computev1.ProviderConfig{}
		err := s.Kube.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: computev1.DefaultProviderConfig}, config)
		return err == nil && config.Status.ObservedGeneration == config.Generation &&
			meta.IsStatusConditionTrue(config.Status.Conditions, computev1.ConditionReady)
	})
}

// Make creates the object.
func (s *Scene) Make() {
	s.T.Helper()
	vm := builders.VirtualMachine(s.Namespace, Name)
	s.create(vm)
	s.UIDs = append(s.UIDs, vm.UID)
}

// Get reads the object past every cache.
func (s *Scene) Get(ctx context.Context) (*computev1.VirtualMachine, error) {
	vm := &computev1.VirtualMachine{}
	err := s.Kube.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: Name}, vm)
	return vm, err
}

// Await waits until the object is as wanted, and returns it.
func (s *Scene) Await(what string, has func(*computev1.VirtualMachine) bool) *computev1.VirtualMachine {
	s.T.Helper()
	var found *computev1.VirtualMachine
	defer func() {
		if s.T.Failed() && found != nil {
			s.T.Logf("%s is %v, record %s", s.Namespace, found.Status.Conditions, found.Annotations[computev1.CreateIntentAnnotation])
		}
	}()
	operator.WaitFor(s.T, what+" in "+s.Namespace, func(ctx context.Context) bool {
		vm, err := s.Get(ctx)
		found = vm
		return err == nil && has(vm)
	})
	return found
}

// Running waits until the VM runs and all about it is as declared.
func (s *Scene) Running() *computev1.VirtualMachine {
	s.T.Helper()
	return s.Await("a running VM", IsRunning)
}

// IsRunning reports whether the VM runs and all about it is as declared.
func IsRunning(vm *computev1.VirtualMachine) bool {
	return vm.Status.ID != "" && meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionReady) &&
		meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionSynced)
}

// Asked waits until a person is asked, and returns the create key in question.
func (s *Scene) Asked() string {
	s.T.Helper()
	vm := s.Await("a question", func(vm *computev1.VirtualMachine) bool {
		stalled := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionStalled)
		return stalled != nil && stalled.Reason == computev1.ReasonCreateAmbiguous
	})
	return intent.Of(vm).Key
}

// Answer gives a person's answer.
func (s *Scene) Answer(annotation, value string) {
	s.T.Helper()
	vm, err := s.Get(s.T.Context())
	if err != nil {
		s.T.Fatal(err)
	}
	before := vm.DeepCopy()
	metav1.SetMetaDataAnnotation(&vm.ObjectMeta, annotation, value)
	if err := s.Kube.Patch(s.T.Context(), vm, client.MergeFrom(before)); err != nil {
		s.T.Fatal(err)
	}
}

// Claim waits for the one VM that the provider has, and says that it is the
// object's.
func (s *Scene) Claim() {
	s.T.Helper()
	s.Answer(computev1.TakeOverIDAnnotation, s.AwaitMachines(1)[0])
}

// Delete asks for the object's deletion.
func (s *Scene) Delete() {
	s.T.Helper()
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: Name}}
	if err := s.Kube.Delete(s.T.Context(), vm); err != nil {
		s.T.Fatal(err)
	}
}

// Gone waits until the object is gone.
func (s *Scene) Gone() {
	s.T.Helper()
	operator.WaitFor(s.T, "the object to go in "+s.Namespace, func(ctx context.Context) bool {
		_, err := s.Get(ctx)
		return apierrors.IsNotFound(err)
	})
}

// Lose deletes a VM behind everybody's back.
func (s *Scene) Lose(id string) {
	s.T.Helper()
	request, err := http.NewRequestWithContext(s.T.Context(), http.MethodDelete, s.Provider.URL()+"/vms/"+id, http.NoBody)
	if err != nil {
		s.T.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.T.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		s.T.Fatalf("deleting %s: status %d", id, response.StatusCode)
	}
}

// String names the scene in errors.
func (s *Scene) String() string {
	return fmt.Sprintf("%s with the objects %s", s.Namespace, strings.Trim(fmt.Sprint(s.UIDs), "[]"))
}
