package smoketest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// pause is how long to wait between two looks. Looks, unlike a watch, need no
// right but get.
const pause = 500 * time.Millisecond

// managedBy marks the VirtualMachines that this command has made: one that it
// could not delete is found by it.
const managedBy = "vmoperator-smoke-test"

// trial is one run of the test.
type trial struct {
	settings
	kube  client.Client
	out   io.Writer
	began time.Time
	// said is the last thing that was told of the VirtualMachine.
	said string
	// idle: no VirtualMachine kept the ProviderConfig when the test began.
	idle bool
}

// say prints a step.
func (t *trial) say(format string, values ...any) {
	fmt.Fprintf(t.out, "%4ds  %s\n", int(time.Since(t.began).Seconds()), fmt.Sprintf(format, values...))
}

// run makes the VirtualMachine and removes it, whatever becomes of it.
func (t *trial) run(ctx context.Context) error {
	if err := t.findProvider(ctx); err != nil {
		return err
	}
	// The name is ours, not the apiserver's: when no answer to the creation comes,
	// there is one to delete by.
	vm := &computev1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: t.namespace, Name: "smoke-test-" + rand.String(8),
			Labels: map[string]string{"app.kubernetes.io/managed-by": managedBy},
		},
		Spec: computev1.VirtualMachineSpec{Image: t.image, CPU: int32(t.cpu), Memory: &t.memory, ProviderRef: &t.provider}, //nolint:gosec // at most 1024
	}
	key := client.ObjectKeyFromObject(vm)
	if err := t.kube.Create(ctx, vm); err != nil {
		err = fmt.Errorf("creating a VirtualMachine in namespace %s: %w", t.namespace, err)
		if refused(err) {
			return err
		}
		return errors.Join(err, t.remove(ctx, key))
	}
	t.say("VirtualMachine %s is created", vm.Name)
	return errors.Join(t.awaitReady(ctx, key), t.remove(ctx, key))
}

// refused reports whether the apiserver has answered and made nothing.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}

// findProvider returns when the ProviderConfig is there. Whether it is Ready shows
// in the VirtualMachine's status.
func (t *trial) findProvider(ctx context.Context) error {
	key := client.ObjectKey{Namespace: t.namespace, Name: t.provider}
	config := &computev1.ProviderConfig{}
	var last error
	err := t.poll(ctx, func(ctx context.Context) (bool, error) {
		last = t.kube.Get(ctx, key, config)
		if refused(last) && (!t.awaitProvider || !apierrors.IsNotFound(last)) {
			return false, last
		}
		return last == nil, nil
	})
	switch {
	case err == nil:
		t.idle = !controllerutil.ContainsFinalizer(config, computev1.ProviderConfigFinalizer)
		t.say("ProviderConfig %s is there", t.provider)
		return nil
	case apierrors.IsNotFound(last):
		return fmt.Errorf("there is no ProviderConfig %s in namespace %s: create one that leads to your provider, "+
			"or install the chart with mock-provider.enabled=true, to try things without one", t.provider, t.namespace)
	case last != nil:
		return fmt.Errorf("reading the ProviderConfig %s in namespace %s: %w", t.provider, t.namespace, last)
	}
	return fmt.Errorf("looking for the ProviderConfig %s: %w", t.provider, err)
}

// awaitReady returns when the VM runs, as declared.
func (t *trial) awaitReady(ctx context.Context, key client.ObjectKey) error {
	vm := &computev1.VirtualMachine{}
	var last error
	err := t.poll(ctx, func(ctx context.Context) (bool, error) {
		if last = t.kube.Get(ctx, key, vm); last != nil {
			if refused(last) {
				return false, last
			}
			return false, nil
		}
		t.tell(vm)
		if stalled := current(vm, computev1.ConditionStalled); stalled != nil {
			return false, fmt.Errorf("it is stalled, and only a person can help: %s: %s", stalled.Reason, stalled.Message)
		}
		ready := current(vm, computev1.ConditionReady)
		return ready != nil && ready.Status == metav1.ConditionTrue, nil
	})
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(last):
		return fmt.Errorf("somebody else has deleted VirtualMachine %s", key.Name)
	case !wait.Interrupted(err):
		return fmt.Errorf("VirtualMachine %s: %w", key.Name, err)
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted before VirtualMachine %s was Ready: %w", key.Name, ctx.Err())
	}
	return errors.Join(fmt.Errorf("VirtualMachine %s is not Ready after %s: %s", key.Name, t.timeout, t.advice(vm)), last)
}

// advice says what to look at when nothing more happens.
func (t *trial) advice(vm *computev1.VirtualMachine) string {
	if vm.Status.ObservedGeneration != vm.Generation {
		return "the operator has not looked at it: see whether it runs, and whether it watches namespace " + t.namespace
	}
	return "the last that was seen is: " + t.said
}

// remove deletes the VirtualMachine and returns when it is gone, also when ctx has
// ended: whoever interrupts a test does not want to keep its VM.
func (t *trial) remove(ctx context.Context, key client.ObjectKey) error {
	ctx = context.WithoutCancel(ctx)
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	var last error
	err := t.poll(ctx, func(ctx context.Context) (bool, error) {
		last = client.IgnoreNotFound(t.kube.Delete(ctx, vm))
		return last == nil, nil
	})
	if err == nil {
		t.say("VirtualMachine %s is to be deleted", key.Name)
		err = t.poll(ctx, func(ctx context.Context) (bool, error) {
			last = t.kube.Get(ctx, key, vm)
			if last == nil {
				t.tell(vm)
			}
			return apierrors.IsNotFound(last), nil
		})
	}
	if err == nil {
		t.say("VirtualMachine %s is gone", key.Name)
		t.awaitRest(ctx)
		return nil
	}
	return errors.Join(fmt.Errorf("VirtualMachine %s is not gone after %s, and its VM may still exist: delete it with kubectl -n %s delete virtualmachine %s",
		key.Name, t.timeout, key.Namespace, key.Name), last)
}

// restPatience is how long the operator may take to let an unused ProviderConfig go.
const restPatience = 15 * time.Second

// awaitRest leaves the ProviderConfig as it was found: who uninstalls the operator
// as soon as the test has ended must not find it kept, with nobody left to let it
// go. It is no failure if another VirtualMachine keeps it now.
func (t *trial) awaitRest(ctx context.Context) {
	if !t.idle {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, restPatience)
	defer cancel()
	config := &computev1.ProviderConfig{}
	err := t.poll(ctx, func(ctx context.Context) (bool, error) {
		err := t.kube.Get(ctx, client.ObjectKey{Namespace: t.namespace, Name: t.provider}, config)
		return apierrors.IsNotFound(err) || err == nil && !controllerutil.ContainsFinalizer(config, computev1.ProviderConfigFinalizer), nil
	})
	if err != nil {
		t.say("ProviderConfig %s is still kept: another VirtualMachine uses it, or the operator does not run", t.provider)
		return
	}
	t.say("ProviderConfig %s is let go", t.provider)
}

func (t *trial) poll(ctx context.Context, condition wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, pause, t.timeout, true, condition)
}

// tell prints what is new of a VirtualMachine.
func (t *trial) tell(vm *computev1.VirtualMachine) {
	if now := describe(vm); now != t.said {
		t.said = now
		t.say("%s", now)
	}
}

// describe is what the status says, in one line.
func describe(vm *computev1.VirtualMachine) string {
	if vm.Status.ObservedGeneration != vm.Generation {
		return "the operator has not looked at it yet"
	}
	var parts []string
	for _, kind := range []string{computev1.ConditionReady, computev1.ConditionStalled} {
		if condition := current(vm, kind); condition != nil {
			parts = append(parts, fmt.Sprintf("%s=%s (%s: %s)", kind, condition.Status, condition.Reason, condition.Message))
		}
	}
	if vm.Status.ID != "" {
		parts = append(parts, "id "+vm.Status.ID)
	}
	if len(vm.Status.Addresses) > 0 {
		parts = append(parts, "addresses "+strings.Join(vm.Status.Addresses, ", "))
	}
	return strings.Join(parts, ", ")
}

// current is a condition that tells of the present spec; nil if there is none.
func current(vm *computev1.VirtualMachine, kind string) *metav1.Condition {
	condition := meta.FindStatusCondition(vm.Status.Conditions, kind)
	if condition == nil || condition.ObservedGeneration != vm.Generation {
		return nil
	}
	return condition
}
