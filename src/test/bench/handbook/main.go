// Command handbook is an operator for VirtualMachines as a tutorial would have it:
// the handbook's own reconciler, written down in good faith with the defaults of
// controller-runtime. It is what the benchmark compares VMOperator with, and for
// nothing else. Where the handbook leaves a choice, it takes the cheaper one.
//
//	go build -o bin/handbook ./src/test/bench/handbook
//	bin/handbook --kubeconfig FILE --namespace NAME --max-concurrent-reconciles 1 \
//	  --metrics-bind-address 127.0.0.1:8080 --health-probe-bind-address 127.0.0.1:8081
//
// It is ready when /readyz says so, and ends with SIGTERM. It works with the CRDs of
// VMOperator, and with any provider of the contract's minimum. ProviderConfigs it
// only reads: their status stays empty.
//
// What a user of VMOperator has and a user of this has not:
//   - Exactly one VM: when it dies, or when its cache is behind, between POST and the
//     write of status.id, the VM stays for ever and another is made.
//   - Drift: once a VM runs, nobody looks at it again. A steady state costs nothing,
//     and sees nothing: a VM that was deleted or resized stays Ready.
//   - Edits of cpu and memory, Retain, pause, and VMs that are adopted or restored.
//   - Deletion is over when the provider has accepted it, not when the VM is gone.
//   - Limits: no rate, no bulkhead, no circuit breaker. A provider that hangs holds
//     all workers, and what Retry-After says is not heard.
//   - Trouble shows in the log alone, not in status or Events.
//   - Memory: its cache holds every Secret and Service of the namespace.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	finalizer    = "compute.example.com/vm-cleanup"
	phaseRunning = "Running"
	pollInterval = 2 * time.Second
	callTimeout  = 10 * time.Second
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(computev1.AddToScheme(scheme))
}

func main() {
	// controller-runtime adds --kubeconfig.
	namespace := flag.String("namespace", "default", "Namespace whose VirtualMachines are looked after.")
	workers := flag.Int("max-concurrent-reconciles", 1, "How many VirtualMachines are worked on at once.")
	metrics := flag.String("metrics-bind-address", ":8080", "Address of the metrics; 0 serves none.")
	probes := flag.String("health-probe-bind-address", ":8081", "Address of the probes.")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}},
		Metrics:                metricsserver.Options{BindAddress: *metrics},
		HealthProbeBindAddress: *probes,
	})
	if err != nil {
		setupLog.Error(err, "unable to make the manager")
		os.Exit(1)
	}
	reconciler := &reconciler{Client: manager.GetClient(), http: &http.Client{Timeout: callTimeout}}
	if err := reconciler.setup(manager, *workers); err != nil {
		setupLog.Error(err, "unable to make the controller")
		os.Exit(1)
	}
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "the manager failed")
		os.Exit(1)
	}
}

// reconciler reconciles a VirtualMachine.
type reconciler struct {
	client.Client

	http *http.Client
}

func (r *reconciler) setup(manager ctrl.Manager, workers int) error {
	if err := manager.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&computev1.VirtualMachine{}).
		Owns(&corev1.Secret{}).
		Owns(&corev1.Service{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// Reconcile brings a VirtualMachine one step further, or all the way.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	vm := &computev1.VirtualMachine{}
	if err := r.Get(ctx, request.NamespacedName, vm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	provider, err := r.provider(ctx, vm)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !vm.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finalize(ctx, vm, provider)
	}
	if controllerutil.AddFinalizer(vm, finalizer) {
		if err := r.Update(ctx, vm); err != nil {
			return ctrl.Result{}, fmt.Errorf("adding the finalizer: %w", err)
		}
	}
	if vm.Status.ID == "" {
		if err := r.create(ctx, vm, provider); err != nil {
			return ctrl.Result{}, err
		}
	} else if vm.Status.Phase != phaseRunning {
		if err := r.refresh(ctx, vm, provider); err != nil {
			return ctrl.Result{}, err
		}
	}
	if vm.Status.Phase != phaseRunning {
		return ctrl.Result{RequeueAfter: pollInterval}, nil
	}
	return ctrl.Result{}, r.publish(ctx, vm)
}

// create makes the VM and notes its id.
func (r *reconciler) create(ctx context.Context, vm *computev1.VirtualMachine, provider *providerClient) error {
	order, err := json.Marshal(map[string]any{
		"name": vm.Name, "image": vm.Spec.Image, "cpu": vm.Spec.CPU, "memory": vm.Spec.Memory,
	})
	if err != nil {
		return fmt.Errorf("writing the order: %w", err)
	}
	made, err := provider.call(ctx, http.MethodPost, "/vms", order)
	if err != nil {
		return err
	}
	ctrl.LoggerFrom(ctx).Info("made the VM", "id", made.ID)
	vm.Status.ID, vm.Status.Phase = made.ID, made.Phase
	if err := r.Status().Update(ctx, vm); err != nil {
		return fmt.Errorf("writing the id: %w", err)
	}
	return nil
}

// refresh notes what the provider says of the VM.
func (r *reconciler) refresh(ctx context.Context, vm *computev1.VirtualMachine, provider *providerClient) error {
	seen, err := provider.call(ctx, http.MethodGet, "/vms/"+vm.Status.ID, nil)
	if err != nil || seen.Phase == vm.Status.Phase {
		return err
	}
	vm.Status.Phase = seen.Phase
	if err := r.Status().Update(ctx, vm); err != nil {
		return fmt.Errorf("writing the phase: %w", err)
	}
	return nil
}

// publish makes the Secret and the Service of a running VM, and says that it is
// Ready.
func (r *reconciler) publish(ctx context.Context, vm *computev1.VirtualMachine) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: vm.Namespace, Name: vm.Name + "-connection"}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, secret, func() error {
		secret.Data = map[string][]byte{"id": []byte(vm.Status.ID)}
		return controllerutil.SetControllerReference(vm, secret, scheme)
	}); err != nil {
		return fmt.Errorf("writing the Secret: %w", err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: vm.Namespace, Name: vm.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, service, func() error {
		service.Spec.Ports = ports(vm)
		return controllerutil.SetControllerReference(vm, service, scheme)
	}); err != nil {
		return fmt.Errorf("writing the Service: %w", err)
	}
	if !meta.SetStatusCondition(&vm.Status.Conditions, metav1.Condition{
		Type: computev1.ConditionReady, Status: metav1.ConditionTrue, Reason: computev1.ReasonRunning,
		Message: "the VM is running", ObservedGeneration: vm.Generation,
	}) {
		return nil
	}
	vm.Status.ObservedGeneration = vm.Generation
	if err := r.Status().Update(ctx, vm); err != nil {
		return fmt.Errorf("writing the condition: %w", err)
	}
	return nil
}

// ports are all that the apiserver would fill in itself: a Service that is as it
// should be is then not written again.
func ports(vm *computev1.VirtualMachine) []corev1.ServicePort {
	all := make([]corev1.ServicePort, 0, len(vm.Spec.Service.Ports))
	for _, port := range vm.Spec.Service.Ports {
		target := port.TargetPort
		if target == 0 {
			target = port.Port
		}
		all = append(all, corev1.ServicePort{
			Name: port.Name, Port: port.Port, TargetPort: intstr.FromInt32(target), Protocol: corev1.Protocol(port.Protocol),
		})
	}
	return all
}

// finalize deletes the VM and lets the object go.
func (r *reconciler) finalize(ctx context.Context, vm *computev1.VirtualMachine, provider *providerClient) error {
	if !controllerutil.ContainsFinalizer(vm, finalizer) {
		return nil
	}
	if vm.Status.ID != "" {
		if _, err := provider.call(ctx, http.MethodDelete, "/vms/"+vm.Status.ID, nil); err != nil {
			return err
		}
		ctrl.LoggerFrom(ctx).Info("deleted the VM", "id", vm.Status.ID)
	}
	controllerutil.RemoveFinalizer(vm, finalizer)
	if err := client.IgnoreNotFound(r.Update(ctx, vm)); err != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}

// providerClient speaks to the provider of a VirtualMachine.
type providerClient struct {
	http             *http.Client
	endpoint, apiKey string
}

// machine is a VM as its provider shows it.
type machine struct {
	ID    string `json:"id"`
	Phase string `json:"phase"`
}

// provider reads endpoint and credentials, from the cache.
func (r *reconciler) provider(ctx context.Context, vm *computev1.VirtualMachine) (*providerClient, error) {
	config := &computev1.ProviderConfig{}
	if err := r.Get(ctx, types.NamespacedName{Namespace: vm.Namespace, Name: vm.ProviderConfigName()}, config); err != nil {
		return nil, fmt.Errorf("reading the ProviderConfig: %w", err)
	}
	found := &providerClient{http: r.http, endpoint: strings.TrimSuffix(config.Spec.Endpoint, "/")}
	if config.Spec.SecretRef == nil {
		return found, nil
	}
	secret := &corev1.Secret{}
	if err := r.Get(ctx, types.NamespacedName{Namespace: vm.Namespace, Name: config.Spec.SecretRef.Name}, secret); err != nil {
		return nil, fmt.Errorf("reading the credentials: %w", err)
	}
	found.apiKey = strings.TrimSpace(string(secret.Data[computev1.APIKeyKey]))
	return found, nil
}

// call returns what the provider answers. That a VM to be deleted is not there is no
// error.
func (p *providerClient) call(ctx context.Context, method, path string, body []byte) (machine, error) {
	request, err := http.NewRequestWithContext(ctx, method, p.endpoint+path, bytes.NewReader(body))
	if err != nil {
		return machine{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Content-Type", "application/json")
	if p.apiKey != "" {
		request.Header.Set("Authorization", "Bearer "+p.apiKey)
	}
	response, err := p.http.Do(request)
	if err != nil {
		return machine{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	if method == http.MethodDelete && (response.StatusCode < 300 || response.StatusCode == http.StatusNotFound) {
		return machine{}, nil
	}
	if response.StatusCode >= 300 {
		return machine{}, fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	var answer machine
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return machine{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return answer, nil
}
