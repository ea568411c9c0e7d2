package providerconfig_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// config creates a ProviderConfig that leads to the rig's first provider.
func (r *rig) config(name string, changes ...func(*computev1.ProviderConfig)) *computev1.ProviderConfig {
	r.t.Helper()
	made := &computev1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Spec:       computev1.ProviderConfigSpec{Endpoint: endpoint},
	}
	for _, change := range changes {
		change(made)
	}
	must(r.t, kube.Create(r.t.Context(), made))
	return made
}

func withSecret(name string) func(*computev1.ProviderConfig) {
	return func(c *computev1.ProviderConfig) { c.Spec.SecretRef = &computev1.SecretReference{Name: name} }
}

func (r *rig) secret(name, key string) *corev1.Secret {
	r.t.Helper()
	made := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Data:       map[string][]byte{computev1.APIKeyKey: []byte(key)},
	}
	must(r.t, kube.Create(r.t.Context(), made))
	return made
}

// vms creates VirtualMachines that refer to a ProviderConfig, and returns them.
func (r *rig) vms(providerRef string, count int) []*computev1.VirtualMachine {
	r.t.Helper()
	all := make([]*computev1.VirtualMachine, 0, count)
	for n := range count {
		memory := quantity("1Gi")
		vm := &computev1.VirtualMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: fmt.Sprintf("%s-%d", providerRef, n)},
			Spec:       computev1.VirtualMachineSpec{Image: "debian", CPU: 1, Memory: &memory, ProviderRef: &providerRef},
		}
		must(r.t, kube.Create(r.t.Context(), vm))
		all = append(all, vm)
	}
	return all
}

// edit changes an object as a user does.
func edit[T client.Object](r *rig, object T, change func(T)) {
	r.t.Helper()
	r.eventually("an edit", func() string {
		if err := kube.Get(r.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err.Error()
		}
		change(object)
		if err := kube.Update(r.t.Context(), object); err != nil {
			return err.Error()
		}
		return ""
	})
}

func annotate(name, value string) func(*computev1.ProviderConfig) {
	return func(c *computev1.ProviderConfig) {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[name] = value
	}
}

func (r *rig) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: r.namespace, Name: name}
}
