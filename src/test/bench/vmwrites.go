package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

const (
	secretSuffix = "-connection"
	sliceSuffix  = "-ipv4"
	vmAddress    = "192.0.2.10"
	// recordSize is about what the record of a creation takes.
	recordSize = 650
)

func secretMeta() *metav1.PartialObjectMetadata {
	return childMeta(corev1.SchemeGroupVersion.String(), "Secret")
}

func serviceMeta() *metav1.PartialObjectMetadata {
	return childMeta(corev1.SchemeGroupVersion.String(), "Service")
}

func childMeta(version, kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: kind}}
}

// What follows makes, for the floor, what the operator makes for a VirtualMachine:
// as large, and with nothing to read before.

func (v *virtualMachines) patch(ctx context.Context, i int, text []byte) error {
	return v.client.Patch(ctx, &computev1.VirtualMachine{ObjectMeta: v.meta(i)},
		client.RawPatch(types.MergePatchType, text), client.FieldOwner(computev1.FieldOwner))
}

func (v *virtualMachines) addFinalizer(ctx context.Context, i int, _ bool) error {
	return v.patch(ctx, i, fmt.Appendf(nil, `{"metadata":{"finalizers":[%q],"annotations":{%q:%q}}}`,
		computev1.VirtualMachineFinalizer, computev1.CreateIntentAnnotation, strings.Repeat("x", recordSize)))
}

func (v *virtualMachines) removeFinalizer(ctx context.Context, i int, _ bool) error {
	return client.IgnoreNotFound(v.patch(ctx, i, []byte(`{"metadata":{"finalizers":null}}`)))
}

func (v *virtualMachines) post(ctx context.Context, i int, _ bool) error {
	name := v.meta(i).Name
	made, err := v.bare.Create(ctx, v.namespace+"/"+name, provider.CreateRequest{
		Name: name, Image: vmImage, CPU: vmCPU, Memory: vmMemory,
		Labels: map[string]string{"namespace": v.namespace, "name": name, "uid": v.namespace + "/" + name},
	})
	v.ids[i] = made.ID
	return err
}

func (v *virtualMachines) destroy(ctx context.Context, i int, _ bool) error {
	return v.bare.Delete(ctx, v.ids[i])
}

func (v *virtualMachines) confirm(ctx context.Context, i int, _ bool) error {
	if _, err := v.bare.Get(ctx, v.ids[i]); provider.ClassOf(err) != provider.NotFound {
		return fmt.Errorf("a VM that was deleted is still there: %w", err)
	}
	return nil
}

func (v *virtualMachines) patchStatus(ctx context.Context, i int, last bool) error {
	status := v.status(i)
	if !last {
		status.Phase = string(provider.PhaseProvisioning)
	}
	return v.writeStatus(ctx, i, status)
}

func (v *virtualMachines) patchDeleting(ctx context.Context, i int, _ bool) error {
	status := v.status(i)
	status.Phase = string(provider.PhaseDeleting)
	return client.IgnoreNotFound(v.writeStatus(ctx, i, status))
}

func (v *virtualMachines) writeStatus(ctx context.Context, i int, status computev1.VirtualMachineStatus) error {
	text, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	return v.client.Status().Patch(ctx, &computev1.VirtualMachine{ObjectMeta: v.meta(i)},
		client.RawPatch(types.MergePatchType, text), client.FieldOwner(computev1.FieldOwner))
}

// status is one of the size that the operator writes.
func (v *virtualMachines) status(i int) computev1.VirtualMachineStatus {
	condition := func(kind, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: 1, LastTransitionTime: metav1.Now()}
	}
	return computev1.VirtualMachineStatus{
		ObservedGeneration: 1, ID: v.ids[i], Phase: string(provider.PhaseRunning), Addresses: []string{vmAddress},
		CPU: vmCPU, Memory: new(resource.MustParse(vmMemory)), ServiceName: v.meta(i).Name,
		Conditions: []metav1.Condition{
			condition(computev1.ConditionReady, computev1.ReasonRunning, "the VM runs"),
			condition(computev1.ConditionSynced, computev1.ReasonSynced, "the VM is as declared"),
		},
	}
}

func (v *virtualMachines) childMeta(i int, name string) metav1.ObjectMeta {
	owner := v.meta(i).Name
	return metav1.ObjectMeta{
		Namespace: v.namespace, Name: name,
		Labels: map[string]string{
			computev1.WatchedLabel: computev1.WatchedLabelValue, computev1.VirtualMachineLabel: owner,
			"app.kubernetes.io/managed-by": computev1.FieldOwner,
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: computev1.GroupVersion.String(), Kind: "VirtualMachine", Name: owner,
			UID: types.UID(v.ids[i]), Controller: new(true), BlockOwnerDeletion: new(false),
		}},
	}
}

func (v *virtualMachines) createSecret(ctx context.Context, i int, _ bool) error {
	return v.client.Create(ctx, &corev1.Secret{
		ObjectMeta: v.childMeta(i, v.meta(i).Name+secretSuffix), Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{"id": []byte(v.ids[i]), "host": []byte(vmAddress), "port": []byte("22")},
	}, client.FieldOwner(computev1.FieldOwner))
}

func (v *virtualMachines) createService(ctx context.Context, i int, _ bool) error {
	return v.client.Create(ctx, &corev1.Service{
		ObjectMeta: v.childMeta(i, v.meta(i).Name),
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "ssh", Port: 22, Protocol: corev1.ProtocolTCP}}},
	}, client.FieldOwner(computev1.FieldOwner))
}

func (v *virtualMachines) createSlice(ctx context.Context, i int, _ bool) error {
	meta := v.childMeta(i, v.meta(i).Name+sliceSuffix)
	meta.Labels[discoveryv1.LabelServiceName] = v.meta(i).Name
	meta.Labels[discoveryv1.LabelManagedBy] = "vmoperator.compute.example.com"
	return v.client.Create(ctx, &discoveryv1.EndpointSlice{
		ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{vmAddress}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}},
		Ports:     []discoveryv1.EndpointPort{{Name: new("ssh"), Port: new(int32(22)), Protocol: new(corev1.ProtocolTCP)}},
	}, client.FieldOwner(computev1.FieldOwner))
}

// clear removes the children of all, where nobody collects garbage: the apiserver
// would keep them in memory while others are measured.
func (w *world) clear(ctx context.Context, v *virtualMachines, n int) error {
	fmt.Fprintf(w.progress, "%d %s, clearing away what is left of %s\n", n, vmKind, v.namespace)
	if err := begin(ctx, phase{begin: v.removeChildren}, n, nil); err != nil {
		return fmt.Errorf("clearing %s: %w", v.namespace, err)
	}
	return nil
}

func (v *virtualMachines) removeChildren(ctx context.Context, i int) error {
	name := v.meta(i).Name
	for _, child := range []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.namespace, Name: name + secretSuffix}},
		&corev1.Service{ObjectMeta: v.meta(i)},
		&discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: v.namespace, Name: name + sliceSuffix}},
	} {
		if err := client.IgnoreNotFound(v.client.Delete(ctx, child)); err != nil {
			return err
		}
	}
	return nil
}

func (v *virtualMachines) createEvent(ctx context.Context, i int, _ bool) error {
	meta, now := v.meta(i), time.Now()
	return v.client.Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: meta.Namespace, Name: fmt.Sprintf("%s.%x", meta.Name, now.UnixNano())},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: computev1.FieldOwner, ReportingInstance: computev1.FieldOwner + "-0",
		Action: "Reconcile", Reason: "Created", Type: corev1.EventTypeNormal, Note: "VM vm-00000000 created",
		Regarding: corev1.ObjectReference{
			APIVersion: computev1.GroupVersion.String(), Kind: "VirtualMachine", Namespace: meta.Namespace, Name: meta.Name, ResourceVersion: "1",
		},
	})
}
