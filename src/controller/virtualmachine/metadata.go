package virtualmachine

import (
	"context"
	"fmt"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/controller/virtualmachine/intent"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

// edit changes an object's metadata.
type edit func(*computev1.VirtualMachine)

func setRecord(record *intent.Record) edit {
	return func(vm *computev1.VirtualMachine) {
		if vm.Annotations == nil {
			vm.Annotations = map[string]string{}
		}
		vm.Annotations[computev1.CreateIntentAnnotation] = record.String()
	}
}

func addFinalizer(record *intent.Record) edit {
	return func(vm *computev1.VirtualMachine) {
		controllerutil.AddFinalizer(vm, computev1.VirtualMachineFinalizer)
		setRecord(record)(vm)
	}
}

func clearAnnotation(name string) edit {
	return func(vm *computev1.VirtualMachine) { delete(vm.Annotations, name) }
}

func clearAnswers(vm *computev1.VirtualMachine) {
	delete(vm.Annotations, computev1.TakeOverIDAnnotation)
	delete(vm.Annotations, computev1.ConfirmNotCreatedAnnotation)
}

// clearSpentConfirmation removes the answer about an earlier key.
func clearSpentConfirmation(record *intent.Record) edit {
	return func(vm *computev1.VirtualMachine) {
		if vm.Annotations[computev1.ConfirmNotCreatedAnnotation] != record.Key {
			delete(vm.Annotations, computev1.ConfirmNotCreatedAnnotation)
		}
	}
}

// writeMetadata patches the object's metadata, bound to the resourceVersion that
// this pass has read.
func (r *Reconciler) writeMetadata(ctx context.Context, p *pass, edits ...edit) error {
	before := p.vm.DeepCopy()
	for _, change := range edits {
		change(p.vm)
	}
	if maps.Equal(before.Annotations, p.vm.Annotations) && len(before.Finalizers) == len(p.vm.Finalizers) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, p.vm, patch, client.FieldOwner(computev1.FieldOwner)); err != nil {
		p.vm = before
		return fmt.Errorf("writing finalizer and annotations: %w", err)
	}
	p.seen.lag.Wrote(p.vm)
	return nil
}

// removeFinalizer lets the object go.
func (r *Reconciler) removeFinalizer(ctx context.Context, p *pass, s decide.State, d decide.Decision) error {
	kept := s.Lifecycle == decide.Retaining || s.Owner != decide.Own
	if kept {
		if err := r.retain(ctx, p); err != nil {
			return err
		}
	}
	err := r.writeMetadata(ctx, p, func(vm *computev1.VirtualMachine) {
		controllerutil.RemoveFinalizer(vm, computev1.VirtualMachineFinalizer)
	})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	p.seen.released = true
	switch id := p.id(); {
	case kept && (id != "" || p.attempted()):
		p.happened(happening.Happening{Reason: "Retained", Warning: true, Note: "left at the provider: VM " + orKey(id, p.record)})
	case s.Machine != decide.MachineNone:
		p.happened(happening.Happening{Reason: "Deleted", Note: d.Message})
	}
	return nil
}

func orKey(id string, record *intent.Record) string {
	if id == "" && record != nil {
		return "of create key " + record.Key
	}
	return id
}

func hasFinalizer(vm *computev1.VirtualMachine) bool {
	return controllerutil.ContainsFinalizer(vm, computev1.VirtualMachineFinalizer)
}

// identity is what the provider calls itself now.
func identity(entry registry.Entry) string { return entry.Capabilities.Identity }

func sameRequest(a, b provider.CreateRequest) bool {
	return a.Name == b.Name && a.Image == b.Image && a.CPU == b.CPU && a.Memory == b.Memory && maps.Equal(a.Labels, b.Labels)
}
