package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/operator"
)

// apiKey is looked for where it must not be.
const apiKey = "marker-key-that-nobody-may-see"

// What the chart grants is generated from markers beside the code. This fails if
// one of them is forgotten.
func TestTheGeneratedRightsAreEnoughForTheLifeOfAVM(t *testing.T) {
	place := namespace(t)
	provider := startProvider(t)
	close(provider.answer)
	config, err := plane.AddUser("with-generated-rights")
	if err != nil {
		t.Fatal(err)
	}
	grant(t, "with-generated-rights", place)
	o := startOperator(t, config, "--watch-namespaces="+place, "--leader-election-namespace="+place,
		"--allow-endpoint-cidrs=127.0.0.0/8")
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: "credentials"},
		StringData: map[string]string{computev1.APIKeyKey: apiKey},
	})
	create(t, builders.ProviderConfig(place, "default", provider.URL, func(config *computev1.ProviderConfig) {
		config.Spec.SecretRef = &computev1.SecretReference{Name: "credentials"}
	}))
	vm := builders.VirtualMachine(place, "vm")
	create(t, vm)
	operator.WaitFor(t, "the VM to run", func(ctx context.Context) bool {
		return kube.Get(ctx, client.ObjectKeyFromObject(vm), vm) == nil && vm.Status.Phase == "Running"
	})
	operator.WaitFor(t, "the VM's address to be published", func(ctx context.Context) bool {
		slice := client.ObjectKey{Namespace: vm.Namespace, Name: vm.Name + "-ipv4"}
		return kube.Get(ctx, slice, &discoveryv1.EndpointSlice{}) == nil
	})

	if err := kube.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	operator.WaitFor(t, "the VM to go", func(ctx context.Context) bool {
		return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(vm), vm))
	})
	if provider.exists.Load() {
		t.Error("the object is gone and the VM is not")
	}
	o.Terminate()
	o.WantEnd()
	for _, line := range o.Log() {
		if strings.Contains(line, "forbidden") {
			t.Errorf("a right is missing: %s", line)
		}
		if strings.Contains(line, apiKey) {
			t.Errorf("the API key is in the log: %s", line)
		}
	}
}

func TestAVMThatWaitsForAPersonIsCounted(t *testing.T) {
	place := namespace(t)
	provider := startProvider(t)
	close(provider.answer)
	create(t, builders.ProviderConfig(place, "default", provider.URL))
	create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: "vm"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	})
	create(t, builders.VirtualMachine(place, "vm"))
	o := startOperator(t, plane.Config, "--watch-namespaces="+place, "--leader-election-namespace="+place, "--allow-endpoint-cidrs=127.0.0.0/8")
	operator.WaitFor(t, "the VM to be counted as stalled", func(ctx context.Context) bool {
		shown, err := o.Metrics(ctx)
		return err == nil && strings.Contains(shown, `vmoperator_virtualmachines_stalled{reason="ChildConflict"} 1`)
	})
}

// A VM that was made while the operator is told to stop must not be lost.
func TestAStopWaitsForTheVMThatIsBeingMade(t *testing.T) {
	place := namespace(t)
	provider := startProvider(t)
	create(t, builders.ProviderConfig(place, "default", provider.URL))
	vm := builders.VirtualMachine(place, "vm")
	create(t, vm)
	o := startOperator(t, plane.Config, "--watch-namespaces="+place, "--leader-election-namespace="+place, "--allow-endpoint-cidrs=127.0.0.0/8")
	select {
	case <-provider.asked:
	case <-t.Context().Done():
		t.Fatal("no VM was asked for")
	}

	o.Terminate()
	o.WantLine("Stopping and waiting for leader election runnables")
	close(provider.answer)
	o.WantEnd()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
		t.Fatal(err)
	}
	if vm.Status.ID != "vm-1" {
		t.Errorf("the VM's id is lost: status %+v", vm.Status)
	}
}

// minimalProvider has the three endpoints that a provider must have and at most
// one VM. It answers a POST once answer is closed.
type minimalProvider struct {
	*httptest.Server
	asked, answer chan struct{}
	exists        atomic.Bool
}

func startProvider(t *testing.T) *minimalProvider {
	t.Helper()
	p := &minimalProvider{asked: make(chan struct{}, 10), answer: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /vms", p.create)
	mux.HandleFunc("GET /vms/vm-1", p.get)
	mux.HandleFunc("DELETE /vms/vm-1", p.delete)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *minimalProvider) create(w http.ResponseWriter, r *http.Request) {
	p.asked <- struct{}{}
	select {
	case <-p.answer:
	case <-r.Context().Done():
		return
	}
	p.exists.Store(true)
	p.show(w)
}

func (p *minimalProvider) get(w http.ResponseWriter, r *http.Request) {
	if !p.exists.Load() {
		http.NotFound(w, r)
		return
	}
	p.show(w)
}

func (p *minimalProvider) delete(w http.ResponseWriter, _ *http.Request) {
	p.exists.Store(false)
	w.WriteHeader(http.StatusNoContent)
}

func (*minimalProvider) show(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"id": "vm-1", "image": "ubuntu-24.04", "phase": "Running", "addresses": ["192.0.2.1"]}`))
}
