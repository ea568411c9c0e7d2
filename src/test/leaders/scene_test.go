package leaders

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
)

const (
	// pollInterval is how often a settled VM is looked at here.
	pollInterval = 2 * time.Second
	// held is a timeout for calls that are held: longer than any test.
	held = 5 * time.Minute
	// brief is a timeout for tests that wait until a POST cannot arrive any more.
	brief = 5 * time.Second
)

// scene is one object, in a namespace of its own, that the first leader is
// stopped in the middle of.
type scene struct {
	name      string
	story     story
	t         *testing.T // of the present phase
	pair      *pair
	namespace string
	provider  *mockprovider.Provider
	// asks is true if the provider cannot repeat a POST, so that a person is asked.
	asks bool
	// door stands before the provider; calls holds what comes to it.
	door  *interpose.Proxy
	calls *switchboard
	// gate is what the first leader waits at.
	gate *interpose.Gate
	// uids are those of the objects that the scene has had.
	uids []types.UID
}

// prepare makes a namespace with a ProviderConfig that leads to the provider.
func (s *scene) prepare(t *testing.T) {
	t.Helper()
	s.namespace, s.calls = namespace(t), &switchboard{}
	next, err := interpose.Server(s.provider.URL())
	if err != nil {
		t.Fatal(err)
	}
	s.door = startProxy(t, interpose.Options{
		Who: s.namespace, Next: next, Classify: interpose.Contract, Hook: s.calls.decide,
	})
	create(t, builders.ProviderConfig(s.namespace, computev1.DefaultProviderConfig, s.door.URL(), func(config *computev1.ProviderConfig) {
		config.Spec.Timeout = &metav1.Duration{Duration: s.story.timeout}
		config.Spec.PollInterval = &metav1.Duration{Duration: pollInterval}
	}))
}

// showLogs shows what the operators say of this scene, last of all, if the present
// phase fails: they say much more of others.
func (s *scene) showLogs() {
	const most = 40
	s.t.Cleanup(func() {
		if !s.t.Failed() {
			return
		}
		for name, o := range map[string]*operator.Operator{"first": s.pair.first, "second": s.pair.second} {
			lines := o.Lines(`"` + s.namespace + `"`)
			s.t.Logf("the %s operator said of %s:\n%s", name, s.namespace, strings.Join(lines[max(len(lines)-most, 0):], "\n"))
		}
	})
}

// ready waits until the provider may be used.
func (s *scene) ready() {
	s.t.Helper()
	operator.WaitFor(s.t, "the ProviderConfig of "+s.namespace, func(ctx context.Context) bool {
		config := &computev1.ProviderConfig{}
		err := kube.Get(ctx, types.NamespacedName{Namespace: s.namespace, Name: computev1.DefaultProviderConfig}, config)
		return err == nil && meta.IsStatusConditionTrue(config.Status.Conditions, computev1.ConditionReady)
	})
}

// make creates the object.
func (s *scene) make() {
	s.t.Helper()
	vm := builders.VirtualMachine(s.namespace, "web")
	create(s.t, vm)
	s.uids = append(s.uids, vm.UID)
}

// holdCall makes the first call of an operation wait on its way to the provider.
func (s *scene) holdCall(operation provider.Operation) {
	s.gate = s.calls.hold(func(call interpose.Call) bool { return call.Is(operation) })
}

// arrived waits until the first leader's call is at the gate.
func (s *scene) arrived() {
	s.t.Helper()
	select {
	case <-s.gate.Arrived():
	case <-time.After(operator.Patience):
		s.t.Fatalf("in %s nothing came to the gate", s.namespace)
	}
}

// open lets the held call, or answer, go on.
func (s *scene) open() { s.gate.Open(interpose.Pass()) }

func (s *scene) get(ctx context.Context) (*computev1.VirtualMachine, error) {
	vm := &computev1.VirtualMachine{}
	err := kube.Get(ctx, types.NamespacedName{Namespace: s.namespace, Name: "web"}, vm)
	return vm, err
}

// awaits waits until the object is as wanted, and returns it.
func (s *scene) awaits(what string, has func(*computev1.VirtualMachine) bool) *computev1.VirtualMachine {
	s.t.Helper()
	var found *computev1.VirtualMachine
	defer func() {
		if s.t.Failed() && found != nil {
			s.t.Logf("%s is %v, record %s", s.namespace, found.Status.Conditions, found.Annotations[computev1.CreateIntentAnnotation])
		}
	}()
	operator.WaitFor(s.t, what+" in "+s.namespace, func(ctx context.Context) bool {
		vm, err := s.get(ctx)
		found = vm
		return err == nil && has(vm)
	})
	return found
}

// running waits until the VM runs and all about it is as declared.
func (s *scene) running() *computev1.VirtualMachine {
	s.t.Helper()
	return s.awaits("a running VM", isRunning)
}

func isRunning(vm *computev1.VirtualMachine) bool {
	return vm.Status.ID != "" && meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionReady) &&
		meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionSynced)
}

// asked waits until a person is asked, and returns the create key in question.
func (s *scene) asked() string {
	s.t.Helper()
	vm := s.awaits("a question", func(vm *computev1.VirtualMachine) bool {
		stalled := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionStalled)
		return stalled != nil && stalled.Reason == computev1.ReasonCreateAmbiguous
	})
	return intent.Of(vm).Key
}

// answer gives a person's answer.
func (s *scene) answer(annotation, value string) {
	s.t.Helper()
	vm, err := s.get(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	before := vm.DeepCopy()
	metav1.SetMetaDataAnnotation(&vm.ObjectMeta, annotation, value)
	if err := kube.Patch(s.t.Context(), vm, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}

// named waits for the one VM that the provider has, and says that it is the
// object's.
func (s *scene) named() {
	s.t.Helper()
	s.answer(computev1.TakeOverIDAnnotation, s.awaitMachines(1)[0])
}

// delete asks for the object's deletion.
func (s *scene) delete() {
	s.t.Helper()
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"}}
	if err := kube.Delete(s.t.Context(), vm); err != nil {
		s.t.Fatal(err)
	}
}

// gone waits until the object is gone.
func (s *scene) gone() {
	s.t.Helper()
	operator.WaitFor(s.t, "the object to go in "+s.namespace, func(ctx context.Context) bool {
		_, err := s.get(ctx)
		return apierrors.IsNotFound(err)
	})
}

// lose deletes a VM behind everybody's back.
func (s *scene) lose(id string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodDelete, s.provider.URL()+"/vms/"+id, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		s.t.Fatalf("deleting %s: status %d", id, response.StatusCode)
	}
}

// String names the scene in errors.
func (s *scene) String() string {
	return fmt.Sprintf("%s with the objects %s", s.namespace, strings.Trim(fmt.Sprint(s.uids), "[]"))
}
