package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

const (
	vmKind       = "VirtualMachines"
	vmController = "virtualmachine"
	// vmWorkers is how many VirtualMachines the operator works on at once by default.
	vmWorkers = 5
	vmImage   = "ubuntu-24.04"
	vmCPU     = 2
	vmMemory  = "4Gi"
)

// What the operator writes for a VirtualMachine, as the audit log has it.
const (
	patchVM        = "patch virtualmachines"
	patchVMStatus  = "patch virtualmachines/status"
	createSecret   = "create secrets"
	createService  = "create services"
	createEndpoint = "create endpointslices"
)

// callPrefix tells a call to a provider from a write to the apiserver.
const callPrefix = "provider: "

// What it calls a provider for.
const (
	callCreate = callPrefix + string(provider.OperationCreate)
	callGet    = callPrefix + string(provider.OperationGet)
	callDelete = callPrefix + string(provider.OperationDelete)
)

// virtualMachines are VirtualMachines in one namespace, at one provider.
type virtualMachines struct {
	client client.Client
	// seen is a cache.
	seen      client.Reader
	namespace string
	// prefix begins the name of each: letters and digits.
	prefix string
	// providerConfig is the name of theirs.
	providerConfig string
	// children: a VirtualMachine is done once it has its Secret and its Service.
	children bool
	// bare calls the provider for the floor, which remembers the ids that it got.
	bare provider.Client
	ids  []string
}

// virtualMachines are those of a ground, as a contender leaves them.
func (w *world) virtualMachines(g *ground, children bool) *virtualMachines {
	return &virtualMachines{
		client: w.client, seen: w.seen, namespace: g.namespace, prefix: "web",
		providerConfig: computev1.DefaultProviderConfig, children: children,
	}
}

// creation ends when all VirtualMachines run.
func (v *virtualMachines) creation() phase {
	return phase{
		name: "create", until: "from the first apply until all run and have their Secret and Service", begin: v.create, settled: v.running,
		// Of the VirtualMachine: finalizer and create key, then the status.
		writes: []write{
			{call: patchVM, most: 1, do: v.addFinalizer},
			{call: callCreate, most: 1, do: v.post},
			{call: patchVMStatus, most: 1, do: v.patchStatus},
			{call: createSecret, most: 1, do: v.createSecret},
			{call: createService, most: 1, do: v.createService},
			{call: createEndpoint, most: 1, do: v.createSlice},
			// That the VM was created, that it runs, and that its children were made.
			{call: createEvent, most: 3, aside: true, do: v.createEvent},
		},
		besides: besides(),
	}
}

// deletion ends when no VirtualMachine is left.
func (v *virtualMachines) deletion() phase {
	return phase{
		name: "delete", until: "from the first delete until all are gone", begin: v.delete, settled: v.gone,
		writes: []write{
			{call: callDelete, most: 1, do: v.destroy},
			{call: callGet, most: 1, do: v.confirm},
			// Where the provider takes its time, that it is being deleted; then the finalizer.
			{call: patchVMStatus, most: 1, do: v.patchDeleting},
			{call: patchVM, most: 1, do: v.removeFinalizer},
			// That it is being deleted, and that it is gone.
			{call: createEvent, most: 2, aside: true, do: v.createEvent},
		},
		besides: besides(),
	}
}

// besides are what is done for the ProviderConfig: about once a second while the
// number of its VirtualMachines changes, and with every list.
func besides() []string {
	return []string{
		"patch providerconfigs", "patch providerconfigs/status", "patch secrets", "create leases",
		callPrefix + string(provider.OperationCapabilities), callPrefix + string(provider.OperationList),
	}
}

func (v *virtualMachines) meta(i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: v.namespace, Name: fmt.Sprintf("%s-%05d", v.prefix, i)}
}

func (v *virtualMachines) key(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: v.namespace, Name: v.meta(i).Name}
}

func (v *virtualMachines) create(ctx context.Context, i int) error {
	return v.client.Create(ctx, &computev1.VirtualMachine{
		ObjectMeta: v.meta(i),
		Spec: computev1.VirtualMachineSpec{
			Image: vmImage, CPU: vmCPU, Memory: new(resource.MustParse(vmMemory)), ProviderRef: &v.providerConfig,
		},
	})
}

func (v *virtualMachines) delete(ctx context.Context, i int) error {
	return v.client.Delete(ctx, &computev1.VirtualMachine{ObjectMeta: v.meta(i)})
}

// running reports whether the VM runs, and others can get at it.
func (v *virtualMachines) running(ctx context.Context, i int) (bool, error) {
	vm := &computev1.VirtualMachine{}
	if err := v.seen.Get(ctx, v.key(i), vm); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if vm.Status.Phase != string(provider.PhaseRunning) {
		return false, nil
	}
	if !v.children {
		return true, nil
	}
	secret := v.key(i)
	secret.Name += secretSuffix
	if err := v.seen.Get(ctx, secret, secretMeta()); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	err := v.seen.Get(ctx, v.key(i), serviceMeta())
	return err == nil, client.IgnoreNotFound(err)
}

func (v *virtualMachines) gone(ctx context.Context, i int) (bool, error) {
	err := v.seen.Get(ctx, v.key(i), &computev1.VirtualMachine{})
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}
