// Package rolebinding keeps the operator's own rights in a namespace for as long as
// something in it needs them.
//
// A namespace that is deleted loses its Roles and RoleBindings at once, and with
// them the operator its right to delete the namespace's VMs. Where the rules are in
// a ClusterRole, a finalizer on the RoleBinding keeps them: RBAC does not ask
// whether a binding is being deleted. The finalizer is taken off when no
// VirtualMachine, no ProviderConfig and no credentials Secret waits for the operator
// any more. It changes finalizers only, which the apiserver's check against
// escalation lets pass.
package rolebinding

import (
	"context"
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/rolebinding/decide"
)

const (
	// poll is how often a RoleBinding is looked at: whoever installs the chart again
	// makes it anew, and there is no right to watch it.
	poll   = time.Minute
	jitter = 0.2
)

// Reconciler keeps one RoleBinding in each namespace. All fields are needed.
type Reconciler struct {
	// Client reads from the cache, which holds the Secrets with WatchedLabel only,
	// and writes.
	Client client.Client
	// APIReader reads past the cache.
	APIReader client.Reader
	// Namespaces are those that the operator works in.
	Namespaces []string
	// Name is the RoleBinding's name in each of them.
	Name string
}

// Reconcile looks at the RoleBinding of one namespace.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	binding := &metav1.PartialObjectMetadata{}
	binding.SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind("RoleBinding"))
	state, err := r.observe(ctx, request, binding)
	if err != nil {
		return ctrl.Result{}, err
	}
	action := decide.Decide(state)
	if err := r.act(ctx, binding, action); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return ctrl.Result{}, fmt.Errorf("%s to RoleBinding %s: %w", action, request, err)
	}
	switch {
	case state.Binding == decide.Missing:
		log.FromContext(ctx).Info("there is no such RoleBinding: a deletion of the namespace will take the operator's rights at once")
	case action == decide.RemoveFinalizer && state.Binding == decide.Deleting:
		// The rights are gone, that to look again too. Should they come back, so do events.
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: wait.Jitter(poll, jitter)}, nil
}

// observe reads only. It looks past the cache where the rights could go.
func (r *Reconciler) observe(ctx context.Context, request ctrl.Request, binding *metav1.PartialObjectMetadata) (decide.State, error) {
	state := decide.State{}
	err := r.APIReader.Get(ctx, request.NamespacedName, binding)
	switch {
	case apierrors.IsNotFound(err):
		return state, nil
	case err != nil:
		return state, fmt.Errorf("reading the RoleBinding %s: %w", request, err)
	case binding.DeletionTimestamp.IsZero():
		state.Binding = decide.Live
	default:
		state.Binding = decide.Deleting
	}
	state.Finalizer = controllerutil.ContainsFinalizer(binding, computev1.RoleBindingFinalizer)
	needed, err := needs(ctx, r.Client, request.Namespace)
	if err == nil && !needed && state.Finalizer {
		needed, err = needs(ctx, r.APIReader, request.Namespace)
		if err == nil && !needed {
			state.Needs = decide.NotNeeded
		}
	}
	if needed {
		state.Needs = decide.Needed
	}
	return state, err
}

// act carries out a decision: at most one write, bound to the version that was
// read, for finalizers are patched as a whole.
func (r *Reconciler) act(ctx context.Context, binding *metav1.PartialObjectMetadata, action decide.Action) error {
	before := binding.DeepCopy()
	switch action {
	case decide.None:
		return nil
	case decide.AddFinalizer:
		controllerutil.AddFinalizer(binding, computev1.RoleBindingFinalizer)
	case decide.RemoveFinalizer:
		controllerutil.RemoveFinalizer(binding, computev1.RoleBindingFinalizer)
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(r.Client.Patch(ctx, binding, patch, client.FieldOwner(computev1.FieldOwner))); err != nil {
		return err
	}
	log.FromContext(ctx).Info("changed what keeps the operator's rights", "action", action.String())
	return nil
}
