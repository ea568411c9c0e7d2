package system

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/operator"
)

// world is a namespace that an operator works in.
type world struct {
	t         *testing.T
	namespace string
	operator  *operator.Operator
}

// loopback lets the operator reach providers on this machine.
const loopback = "--allow-endpoint-cidrs=127.0.0.0/8"

// story is a test of a world of its own, under an operator that is others' as
// well: a process for each would take most of the time.
type story struct {
	name string
	run  func(*world, *metronome)
}

// tell runs stories side by side under one operator.
func tell(t *testing.T, stories []story) {
	t.Helper()
	t.Parallel()
	namespaces := []string{namespace(t)}
	for range stories {
		namespaces = append(namespaces, namespace(t))
	}
	operator := startOperator(t, namespaces, loopback)
	m := startMetronome(t, namespaces[0])
	for i, story := range stories {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, namespace: namespaces[i+1], operator: operator}
			w.showLog()
			story.run(w, m)
		})
	}
}

// start starts the world's operator, or another one after it.
func (w *world) start(args ...string) {
	w.t.Helper()
	w.operator = startOperator(w.t, []string{w.namespace}, args...)
}

func namespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "system-"}}
	create(t, made)
	return made.Name
}

var started atomic.Int32

// startOperator returns when the operator is ready. The first namespace is where
// its release lives, so that one started after it is the same release.
func startOperator(t *testing.T, namespaces []string, args ...string) *operator.Operator {
	t.Helper()
	return startOperatorAs(t, operatorConfig, namespaces, args...)
}

// startOperatorAs starts one that has another user's rights.
func startOperatorAs(t *testing.T, user *rest.Config, namespaces []string, args ...string) *operator.Operator {
	t.Helper()
	number := started.Add(1)
	flags := []string{
		// At level 1, zap leaves lines out when many are alike, and passes are counted by
		// their lines.
		"--watch-namespaces=" + strings.Join(namespaces, ","), "--leader-election-namespace=" + namespaces[0], "--zap-log-level=2",
	}
	o := operator.Start(t, operator.Options{
		Executable: executable, Config: user, Args: append(flags, args...),
		Silent: true,
		Output: seen.of(fmt.Sprintf("the log of operator %d, of %s", number, t.Name())),
	})
	metrics := seen.of(fmt.Sprintf("the metrics of operator %d, of %s", number, t.Name()))
	t.Cleanup(func() {
		if !o.Running() {
			return
		}
		shown, err := o.Metrics(context.WithoutCancel(t.Context()))
		if err != nil || !strings.Contains(shown, "vmoperator_provider_call_duration_seconds_count") {
			t.Errorf("metrics without calls to providers, %v:\n%s", err, shown)
		}
		fmt.Fprint(metrics, shown)
	})
	// The test has no operator yet whose log it could show.
	ready := false
	t.Cleanup(func() {
		if !ready {
			t.Logf("the operator that did not become ready said:\n%s", strings.Join(o.Log(), "\n"))
		}
	})
	o.WantProbe("/readyz", 200)
	ready = true
	return o
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func update(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// secret makes the Secret that ProviderConfigs refer to, or changes its content.
func (w *world) secret(data map[string]string) {
	w.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "credentials"}}
	err := kube.Get(w.t.Context(), client.ObjectKeyFromObject(secret), secret)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	before := secret.DeepCopy()
	secret.Data = nil
	for name, value := range data {
		secret.Data = map[string][]byte{name: []byte(value)}
	}
	if apierrors.IsNotFound(err) {
		create(w.t, secret)
		return
	}
	if err := kube.Patch(w.t.Context(), secret, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// key makes the Secret hold an API key.
func (w *world) key(key string) {
	w.t.Helper()
	w.secret(map[string]string{computev1.APIKeyKey: key})
}

// provider makes a ProviderConfig that refers to the Secret, and polls often.
func (w *world) provider(endpoint string) {
	w.t.Helper()
	create(w.t, builders.ProviderConfig(w.namespace, computev1.DefaultProviderConfig, endpoint, func(config *computev1.ProviderConfig) {
		config.Spec.SecretRef = &computev1.SecretReference{Name: "credentials"}
		config.Spec.PollInterval = &metav1.Duration{Duration: beat}
	}))
}

// working makes a provider that works.
func (w *world) working(endpoint string) {
	w.t.Helper()
	w.key(apiKey)
	w.provider(endpoint)
}

// vm makes a VirtualMachine.
func (w *world) vm(name string, changes ...func(*computev1.VirtualMachine)) {
	w.t.Helper()
	create(w.t, builders.VirtualMachine(w.namespace, name, changes...))
}

// change edits an object, as a user does.
func change[T client.Object](w *world, object T, edit func(T)) {
	w.t.Helper()
	if err := kube.Get(w.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		w.t.Fatal(err)
	}
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		w.t.Fatalf("%T cannot be copied", object)
	}
	edit(object)
	if err := kube.Patch(w.t.Context(), object, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// paused does something while the operator leaves a VirtualMachine alone.
func (w *world) paused(name string, do func()) {
	w.t.Helper()
	vm := &computev1.VirtualMachine{ObjectMeta: w.meta(name)}
	change(w, vm, func(vm *computev1.VirtualMachine) {
		metav1.SetMetaDataAnnotation(&vm.ObjectMeta, computev1.PausedAnnotation, "true")
	})
	w.awaits(name, condition{computev1.ConditionSynced, metav1.ConditionUnknown, computev1.ReasonPaused, nil})
	do()
	change(w, vm, func(vm *computev1.VirtualMachine) { delete(vm.Annotations, computev1.PausedAnnotation) })
}

func (w *world) changeProvider(edit func(*computev1.ProviderConfig)) {
	w.t.Helper()
	change(w, &computev1.ProviderConfig{ObjectMeta: w.meta(computev1.DefaultProviderConfig)}, edit)
}

func (w *world) moveTo(endpoint string) {
	w.t.Helper()
	w.changeProvider(func(config *computev1.ProviderConfig) { config.Spec.Endpoint = endpoint })
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

// running waits until a VM runs and all about it is as declared, and returns it.
func (w *world) running(name string) *computev1.VirtualMachine {
	w.t.Helper()
	w.awaits(name, condition{computev1.ConditionReady, metav1.ConditionTrue, computev1.ReasonRunning, []string{"the VM runs"}})
	return w.awaits(name, condition{computev1.ConditionSynced, metav1.ConditionTrue, computev1.ReasonSynced, nil})
}

// deleted deletes a VirtualMachine and waits until it is gone.
func (w *world) deleted(name string) {
	w.t.Helper()
	if err := kube.Delete(w.t.Context(), &computev1.VirtualMachine{ObjectMeta: w.meta(name)}); err != nil {
		w.t.Fatal(err)
	}
	w.awaitsGone(name)
}

// awaitsGone waits until an object that was deleted is gone.
func (w *world) awaitsGone(name string) {
	w.t.Helper()
	vm := &computev1.VirtualMachine{ObjectMeta: w.meta(name)}
	operator.WaitFor(w.t, name+" to go", func(ctx context.Context) bool {
		return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(vm), vm))
	})
}

// newWorld makes a namespace, and an operator for it alone.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: namespace(t)}
	w.showLog()
	w.start(loopback)
	return w
}

// showLog shows what the operator says of this world, and of none, last of all, if
// the test fails: it says much more of others.
func (w *world) showLog() {
	const most = 100
	w.t.Cleanup(func() {
		if !w.t.Failed() || w.operator == nil {
			return
		}
		lines := slices.DeleteFunc(w.operator.Log(), func(line string) bool {
			return strings.Contains(line, `"namespace":`) && !strings.Contains(line, `"`+w.namespace+`"`)
		})
		w.t.Logf("the operator said of %s:\n%s", w.namespace, strings.Join(lines[max(len(lines)-most, 0):], "\n"))
	})
}
