package crash

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/builders"
)

const (
	vmName     = "web"
	secretName = "credentials"
	firstKey   = "first-key"
	secondKey  = "second-key"
)

// step is something that a user does or waits for.
type step func(*world) error

func (w *world) named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: name}
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

// createProvider makes the Secret and the ProviderConfig.
func createProvider(w *world) error {
	secret := &corev1.Secret{
		ObjectMeta: w.meta(secretName), Data: map[string][]byte{computev1.APIKeyKey: []byte(firstKey)},
	}
	if err := kube.Create(w.t.Context(), secret); err != nil {
		return err
	}
	return kube.Create(w.t.Context(), quick(w.namespace, computev1.DefaultProviderConfig, w.cloud.URL(), secretName))
}

// quick is a ProviderConfig with the shortest times that the schema allows.
func quick(namespace, name, endpoint, secret string) *computev1.ProviderConfig {
	return builders.ProviderConfig(namespace, name, endpoint, func(config *computev1.ProviderConfig) {
		if secret != "" {
			config.Spec.SecretRef = &computev1.SecretReference{Name: secret}
		}
		config.Spec.PollInterval = &metav1.Duration{Duration: pollInterval}
		config.Spec.Timeout = &metav1.Duration{Duration: callTimeout}
	})
}

// startMetronome lets the operator poll something when all else is gone.
func (w *world) startMetronome() {
	w.t.Helper()
	if err := kube.Create(w.t.Context(), quick(w.watched[0], "metronome", w.cloud.URL()+metronomePath, "")); err != nil {
		w.t.Fatal(err)
	}
}

func createVM(w *world) error {
	return kube.Create(w.t.Context(), builders.VirtualMachine(w.namespace, vmName))
}

func deleteVM(w *world) error {
	return kube.Delete(w.t.Context(), &computev1.VirtualMachine{ObjectMeta: w.meta(vmName)})
}

func deleteProvider(w *world) error {
	return kube.Delete(w.t.Context(), &computev1.ProviderConfig{ObjectMeta: w.meta(computev1.DefaultProviderConfig)})
}

func deleteNamespace(w *world) error {
	return kube.Delete(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
}

// edit changes the VM's spec.
func edit(w *world) error {
	vm := &computev1.VirtualMachine{}
	if err := kube.Get(w.t.Context(), w.named(vmName), vm); err != nil {
		return err
	}
	before := vm.DeepCopy()
	vm.Spec.CPU = 4
	vm.Spec.Service = &computev1.VirtualMachineService{Ports: []computev1.VirtualMachinePort{{Name: "https", Port: 443}}}
	return kube.Patch(w.t.Context(), vm, client.MergeFrom(before))
}

// rotate gives the operator the key that the provider asks for by now.
func rotate(w *world) error {
	secret := &corev1.Secret{}
	if err := kube.Get(w.t.Context(), w.named(secretName), secret); err != nil {
		return err
	}
	before := secret.DeepCopy()
	secret.Data[computev1.APIKeyKey] = []byte(secondKey)
	return kube.Patch(w.t.Context(), secret, client.MergeFrom(before))
}

// What happens at the provider.

func askForAnotherKey(w *world) error {
	key := secondKey
	w.key.Store(&key)
	return nil
}

func finishProvisioning(w *world) error {
	w.fake.Provision()
	return nil
}

func finishDeletion(w *world) error {
	w.fake.Finish()
	return nil
}

func loseVM(w *world) error {
	for _, machine := range w.fake.Live() {
		w.fake.Vanish(machine.ID)
	}
	return nil
}

func cutOff(w *world) error {
	w.saboteur.unreachable.Store(true)
	return nil
}

func reconnect(w *world) error {
	w.saboteur.unreachable.Store(false)
	return nil
}

// What a user waits for.

// until waits for a state of the VM. An abandoned object is waited for no more.
func until(what string, state func(*computev1.VirtualMachine) bool) step {
	return func(w *world) error {
		return w.await(what, func(ctx context.Context) (bool, error) {
			vm := &computev1.VirtualMachine{}
			err := kube.Get(ctx, w.named(vmName), vm)
			if w.abandoned {
				return true, client.IgnoreNotFound(err)
			}
			return err == nil && state(vm), client.IgnoreNotFound(err)
		})
	}
}

func is(vm *computev1.VirtualMachine, condition string) bool {
	return meta.IsStatusConditionTrue(vm.Status.Conditions, condition)
}

var running = until("the VM to run", func(vm *computev1.VirtualMachine) bool {
	return vm.Status.ObservedGeneration == vm.Generation && is(vm, computev1.ConditionReady) && is(vm, computev1.ConditionSynced)
})

var provisioning = until("the VM to be on its way", func(vm *computev1.VirtualMachine) bool {
	return vm.Status.ID != "" && vm.Status.Phase == string(provider.PhaseProvisioning)
})

// beingDeleted: the operator has seen that the deletion takes its time. That the
// provider has begun is too early: it could end before the operator looks.
var beingDeleted = until("the VM to be shown as being deleted", func(vm *computev1.VirtualMachine) bool {
	return vm.Status.Phase == string(provider.PhaseDeleting)
})

// edited: the provider has taken the size, or the user is told that it cannot.
var edited = until("the edit to be dealt with", func(vm *computev1.VirtualMachine) bool {
	done := vm.Status.CPU == vm.Spec.CPU && is(vm, computev1.ConditionSynced)
	return vm.Status.ObservedGeneration == vm.Generation && (done || is(vm, computev1.ConditionStalled))
})

var heldUp = until("the deletion to be held up", func(vm *computev1.VirtualMachine) bool {
	synced := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionSynced)
	troubles := []string{computev1.ReasonProviderError, computev1.ReasonProviderNotReady}
	return synced != nil && !vm.DeletionTimestamp.IsZero() && slices.Contains(troubles, synced.Reason)
})

// another waits for a VM in place of the one that the step before has lost.
func another(w *world) error {
	return w.await("another VM to run", func(ctx context.Context) (bool, error) {
		vm := &computev1.VirtualMachine{}
		err := kube.Get(ctx, w.named(vmName), vm)
		if w.abandoned {
			return true, client.IgnoreNotFound(err)
		}
		live := w.fake.Live()
		return len(live) == 1 && vm.Status.ID == live[0].ID && is(vm, computev1.ConditionReady), client.IgnoreNotFound(err)
	})
}

// posted waits for a POST to be sent, whatever becomes of it.
func posted(w *world) error {
	return w.await("a POST", func(context.Context) (bool, error) {
		for _, effect := range w.saboteur.recorded() {
			if effect.Creates() {
				return true, nil
			}
		}
		return false, nil
	})
}

func vmGone(w *world) error {
	return w.awaitGone(&computev1.VirtualMachine{ObjectMeta: w.meta(vmName)})
}

func providerGone(w *world) error {
	return w.awaitGone(&computev1.ProviderConfig{ObjectMeta: w.meta(computev1.DefaultProviderConfig)})
}

func namespaceGone(w *world) error {
	return w.awaitGone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
}

func (w *world) awaitGone(object client.Object) error {
	return w.await(object.GetName()+" to go", func(ctx context.Context) (bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(object), object)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// untilProvider waits for a state of the ProviderConfig.
func untilProvider(what string, state func(*computev1.ProviderConfig) bool) step {
	return func(w *world) error {
		return w.await(what, func(ctx context.Context) (bool, error) {
			config := &computev1.ProviderConfig{}
			err := kube.Get(ctx, w.named(computev1.DefaultProviderConfig), config)
			return err == nil && state(config), client.IgnoreNotFound(err)
		})
	}
}

func reason(config *computev1.ProviderConfig, condition string) string {
	if found := meta.FindStatusCondition(config.Status.Conditions, condition); found != nil {
		return found.Reason
	}
	return ""
}

var providerReady = untilProvider("the provider to be ready", func(config *computev1.ProviderConfig) bool {
	return reason(config, computev1.ConditionReady) == computev1.ReasonProbed
})

var providerRefuses = untilProvider("the provider to refuse the key", func(config *computev1.ProviderConfig) bool {
	return reason(config, computev1.ConditionReady) == computev1.ReasonUnauthorized
})

var providerInUse = untilProvider("the provider to be kept", func(config *computev1.ProviderConfig) bool {
	return !config.DeletionTimestamp.IsZero() && reason(config, computev1.ConditionReconciling) == computev1.ReasonInUse
})
