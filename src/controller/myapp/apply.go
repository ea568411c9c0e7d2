package myapp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/cachelag"
	"github.com/example/vmoperator/src/controller/fieldmanager"
)

// replicasOwner owns the number of replicas on behalf of an AppAutoscaler that has
// not changed it yet.
const replicasOwner = exampleappsv1.FieldOwner + "-replicas"

// configuration is what is applied of an object: what it says, and no empty field
// that a Go struct has anyway.
func configuration(object client.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("writing the object out: %w", err)
	}
	delete(content, "status")
	prune(content)
	return &unstructured.Unstructured{Object: content}, nil
}

// prune takes away nulls, and empty structs but those that mean something.
func prune(object map[string]any) {
	for field, value := range object {
		switch value := value.(type) {
		case nil:
			delete(object, field)
		case map[string]any:
			prune(value)
			if len(value) == 0 && field != "emptyDir" {
				delete(object, field)
			}
		case []any:
			for _, item := range value {
				if inner, isObject := item.(map[string]any); isObject {
					prune(inner)
				}
			}
		}
	}
}

// apply writes what is wanted over an object that is ours: that one, and no other
// that has taken its name since.
func (r *Reconciler) apply(ctx context.Context, wanted, live, into client.Object) error {
	config, err := configuration(wanted)
	if err != nil {
		return err
	}
	config.SetUID(live.GetUID())
	err = r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), client.FieldOwner(exampleappsv1.FieldOwner), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("applying the %s: %w", wanted.GetObjectKind().GroupVersionKind().Kind, err)
	}
	return decode(config.Object, into)
}

// merge writes parts of a spec over what was just read.
func (r *Reconciler) merge(ctx context.Context, object client.Object, spec map[string]any) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion()},
		"spec":     spec,
	})
	if err != nil {
		return fmt.Errorf("writing the patch: %w", err)
	}
	if err := r.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(exampleappsv1.FieldOwner)); err != nil {
		return fmt.Errorf("taking away what was added: %w", err)
	}
	return nil
}

// withdraw takes back what was applied to an object that turned out to be somebody
// else's.
func (r *Reconciler) withdraw(ctx context.Context, object *unstructured.Unstructured) error {
	nothing := &unstructured.Unstructured{}
	nothing.SetGroupVersionKind(object.GroupVersionKind())
	nothing.SetNamespace(object.GetNamespace())
	nothing.SetName(object.GetName())
	nothing.SetUID(object.GetUID())
	owner := client.FieldOwner(exampleappsv1.FieldOwner)
	if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(nothing), owner, client.ForceOwnership); err != nil {
		return fmt.Errorf("leaving an object of somebody else's as it was: %w", err)
	}
	return cachelag.ErrBehind
}

// handReplicasOver makes another manager own the number of replicas, as it is,
// before we leave it out of what we apply: a field that nobody owns any more is
// set to its default, 1. It is bound to the version that was read, so that a number
// which was changed meanwhile is not put back.
func (r *Reconciler) handReplicasOver(ctx context.Context, p *pass) error {
	ours := slices.ContainsFunc(p.deployment.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == exampleappsv1.FieldOwner && entry.Operation == metav1.ManagedFieldsOperationApply
	})
	owner, err := fieldmanager.Of(&metav1.ObjectMeta{ManagedFields: applied(p.deployment.ManagedFields)}, fieldmanager.Replicas())
	if err != nil || !ours || owner.Manager == "" {
		return err
	}
	config := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(*p.deployment.Spec.Replicas)}}}
	config.SetAPIVersion("apps/v1")
	config.SetKind("Deployment")
	config.SetNamespace(p.deployment.Namespace)
	config.SetName(p.deployment.Name)
	config.SetUID(p.deployment.UID)
	config.SetResourceVersion(p.deployment.ResourceVersion)
	err = r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), client.FieldOwner(replicasOwner), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("handing the number of replicas over: %w", err)
	}
	return nil
}

// applied are the entries of what we have applied.
func applied(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var ours []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Manager == exampleappsv1.FieldOwner && entry.Operation == metav1.ManagedFieldsOperationApply {
			ours = append(ours, entry)
		}
	}
	return ours
}
