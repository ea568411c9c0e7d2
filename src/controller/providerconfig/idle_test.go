package providerconfig_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider/registry"
)

func (r *rig) kept(name string) bool {
	r.t.Helper()
	return slices.Contains(r.read(name).Finalizers, computev1.ProviderConfigFinalizer)
}

func TestAProviderConfigIsKeptOnlyWhileVMsReferToIt(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.shown("aws", showsReady)
	r.entered(registry.Idle)
	if r.kept("aws") {
		t.Error("it is kept though no VM refers to it")
	}
	vm := r.vms("aws", 1)[0]
	r.entered(registry.Ready)
	if !r.kept("aws") {
		t.Error("VMs may use what is not kept")
	}
	must(t, kube.Delete(t.Context(), vm))
	r.eventually("the finalizer", func() string { return unless(!r.kept("aws"), "stays") })
	r.entered(registry.Idle)
}

func TestAVMThatComesWhileItsProviderConfigIsLetGoKeepsIt(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	vm := r.vms("aws", 1)[0]
	r.shown("aws", showsReady)
	r.entered(registry.Ready)
	idle, resume := make(chan struct{}), make(chan struct{})
	r.reg.Listen(registry.Changed, func(key types.NamespacedName) {
		if r.reg.Get(key).State == registry.Idle {
			close(idle)
			<-resume
		}
	})
	must(t, kube.Delete(t.Context(), vm))
	<-idle
	// The last moment: who comes later waits.
	r.vms("aws", 1)
	close(resume)
	r.entered(registry.Ready)
	if !r.kept("aws") {
		t.Error("it was let go")
	}
}
