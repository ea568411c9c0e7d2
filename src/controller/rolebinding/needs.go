package rolebinding

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// needs reports whether a namespace has an object that needs the operator's rights.
func needs(ctx context.Context, reader client.Reader, namespace string) (bool, error) {
	watched := client.MatchingLabels{computev1.WatchedLabel: computev1.WatchedLabelValue}
	for _, kind := range []struct {
		list    client.ObjectList
		options []client.ListOption
	}{
		{&computev1.VirtualMachineList{}, nil},
		{&computev1.ProviderConfigList{}, nil},
		{&corev1.SecretList{}, []client.ListOption{watched}},
	} {
		// Without copies, for the objects are only read, and there may be thousands.
		options := slices.Concat(kind.options, []client.ListOption{client.InNamespace(namespace), client.UnsafeDisableDeepCopy})
		if err := reader.List(ctx, kind.list, options...); err != nil {
			return false, fmt.Errorf("looking for what needs the operator's rights: %w", err)
		}
		found := false
		err := meta.EachListItem(kind.list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			found = found || ok && need(object)
			return nil
		})
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// need reports whether an object needs the operator's rights: it carries a
// finalizer of the operator's, or is about to get one.
func need(object client.Object) bool {
	alive := object.GetDeletionTimestamp().IsZero()
	switch object.(type) {
	case *computev1.VirtualMachine:
		return alive || controllerutil.ContainsFinalizer(object, computev1.VirtualMachineFinalizer)
	case *computev1.ProviderConfig:
		return alive || controllerutil.ContainsFinalizer(object, computev1.ProviderConfigFinalizer)
	case *corev1.Secret:
		return controllerutil.ContainsFinalizer(object, computev1.CredentialsFinalizer)
	}
	return false
}
