package virtualmachine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/provider"
)

// childPlan is what must be written so that the children are as they should be.
type childPlan struct {
	// writes are the changes, in order.
	writes []childWrite
	// blocked names the objects of somebody else's that are in the way.
	blocked []string
	// err is why the children could not be read or written.
	err error
	// of is the VM that the children tell of.
	of provider.Machine
}

// childWrite is one change. An object without a resourceVersion is created, one
// without a spec to keep is deleted.
type childWrite struct {
	object client.Object
	remove bool
}

// merge takes over into a child, as it is, everything that is ours of it, as it
// should be. It reports whether that changed anything.
type merge func(current, wanted client.Object) bool

// observeChildren compares the children in the cache with those that should be.
func (r *Reconciler) observeChildren(ctx context.Context, p *pass) decide.Children {
	if !tellSame(p.children.of, p.machine) {
		// Another look at the VM, in this pass, has shown something new.
		p.children = childPlan{}
	}
	if p.children.err != nil || len(p.children.blocked) > 0 {
		// This pass has tried to write: the cache does not show yet what came of it.
		return p.children.state()
	}
	if p.children.applied() {
		return decide.ChildrenApplied
	}
	addresses := publishable(p.machine.Addresses, r.VMAddressCIDRs)
	wanted := desiredChildren(p.vm, p.machine, addresses)
	plan := childPlan{of: p.machine}
	r.plan(ctx, &plan, &corev1.Secret{}, wanted.secret, mergeSecret)
	r.plan(ctx, &plan, &corev1.Service{}, wanted.service, mergeService)
	for family, slice := range wanted.slices {
		if slice == nil {
			r.planRemoval(ctx, &plan, p.vm, family)
			continue
		}
		r.plan(ctx, &plan, &discoveryv1.EndpointSlice{}, slice, mergeSlice)
	}
	p.children = plan
	return plan.state()
}

// tellSame reports whether two looks at a VM lead to the same children.
func tellSame(one, other provider.Machine) bool {
	return one.ID == other.ID && one.Phase == other.Phase && slices.Equal(one.Addresses, other.Addresses)
}

func (c *childPlan) state() decide.Children {
	switch {
	case c.err != nil:
		return decide.ChildrenUnknown
	case len(c.writes) > 0:
		return decide.ChildrenDiffer
	case len(c.blocked) > 0:
		return decide.ChildrenBlocked
	default:
		return decide.ChildrenApplied
	}
}

// applied reports whether this pass has written what there was to write.
func (c *childPlan) applied() bool { return c.writes != nil && len(c.writes) == 0 }

// plan adds what one child needs.
func (r *Reconciler) plan(ctx context.Context, plan *childPlan, current, wanted client.Object, merge merge) {
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(wanted), current)
	switch {
	case apierrors.IsNotFound(err):
		// The cache holds only what carries our label, so something may still be there.
		plan.writes = append(plan.writes, childWrite{object: wanted})
	case err != nil:
		plan.err = fmt.Errorf("reading %s: %w", describe(wanted), err)
	case !ownedLike(current, wanted):
		plan.blocked = append(plan.blocked, describe(wanted))
	case !current.GetDeletionTimestamp().IsZero():
		// It is made again once it is gone.
	case merge(current, wanted):
		plan.writes = append(plan.writes, childWrite{object: current})
	}
}

// planRemoval adds the removal of a slice that has no address left.
func (r *Reconciler) planRemoval(ctx context.Context, plan *childPlan, vm *computev1.VirtualMachine, family discoveryv1.AddressType) {
	slice := &discoveryv1.EndpointSlice{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: vm.Namespace, Name: sliceName(vm, family)}, slice)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		plan.err = fmt.Errorf("reading %s: %w", describe(slice), err)
	case metav1.IsControlledBy(slice, vm) && slice.DeletionTimestamp.IsZero():
		plan.writes = append(plan.writes, childWrite{object: slice, remove: true})
	}
}

// applyChildren writes what was planned and tells it in one event. A conflict
// means that the cache is behind: it is returned, for the pass to be repeated.
// What else goes wrong with a child is the children's own trouble, for the next
// decision to see.
func (r *Reconciler) applyChildren(ctx context.Context, p *pass) error {
	plan := &p.children
	var applied []string
	var last client.Object
	for _, write := range plan.writes {
		verb, err := r.write(ctx, plan, write)
		if apierrors.IsConflict(err) {
			return err
		}
		if err != nil {
			plan.err = fmt.Errorf("writing %s: %w", describe(write.object), err)
			break
		}
		if verb != "" {
			applied, last = append(applied, verb+" "+describe(write.object)), write.object
		}
	}
	plan.writes = []childWrite{}
	switch len(applied) {
	case 0:
	case 1:
		p.happened(happening.Happening{Reason: "Applied", Note: applied[0], About: last})
	default:
		p.happened(happening.Happening{Reason: "Applied", Note: strings.Join(applied, ", ")})
	}
	return nil
}

// write makes one change and says what it did.
func (r *Reconciler) write(ctx context.Context, plan *childPlan, write childWrite) (string, error) {
	switch {
	case write.remove:
		uid := write.object.GetUID()
		err := r.Client.Delete(ctx, write.object, client.Preconditions{UID: &uid})
		return "removed", client.IgnoreNotFound(err)
	case write.object.GetResourceVersion() != "":
		return "updated", r.Client.Update(ctx, write.object, client.FieldOwner(computev1.FieldOwner))
	}
	wanted := write.object.DeepCopyObject().(client.Object) //nolint:errcheck,forcetypeassert // a copy has its original's type
	err := r.Client.Create(ctx, write.object, client.FieldOwner(computev1.FieldOwner))
	if apierrors.IsAlreadyExists(err) {
		return r.adoptChild(ctx, plan, wanted)
	}
	return "created", err
}

// adoptChild decides about an object that stands where a child belongs and that
// the cache does not show: ours without its label, or somebody else's.
func (r *Reconciler) adoptChild(ctx context.Context, plan *childPlan, wanted client.Object) (string, error) {
	current := wanted.DeepCopyObject().(client.Object) //nolint:errcheck,forcetypeassert // a copy has its original's type
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(wanted), current); err != nil {
		return "", err
	}
	if formerSelf(current, wanted) {
		return "", fmt.Errorf("%s of the deleted VirtualMachine of this name is still there", describe(current))
	}
	if !ownedLike(current, wanted) {
		plan.blocked = append(plan.blocked, describe(wanted))
		return "", nil
	}
	if !current.GetDeletionTimestamp().IsZero() || !mergeAny(current, wanted) {
		return "", nil
	}
	return "updated", r.Client.Update(ctx, current, client.FieldOwner(computev1.FieldOwner))
}

// ownedLike reports whether a child's controller is the object that wants it.
func ownedLike(current, wanted client.Object) bool {
	controller, owner := metav1.GetControllerOf(current), metav1.GetControllerOf(wanted)
	return controller != nil && controller.UID == owner.UID
}

// formerSelf reports whether a child belongs to a deleted object of the same
// name, so that garbage collection is about to remove it.
func formerSelf(current, wanted client.Object) bool {
	controller, owner := metav1.GetControllerOf(current), metav1.GetControllerOf(wanted)
	return controller != nil && controller.UID != owner.UID && controller.Kind == owner.Kind && controller.Name == owner.Name
}

func mergeAny(current, wanted client.Object) bool {
	switch wanted.(type) {
	case *corev1.Secret:
		return mergeSecret(current, wanted)
	case *corev1.Service:
		return mergeService(current, wanted)
	default:
		return mergeSlice(current, wanted)
	}
}

func mergeLabels(current, wanted client.Object) bool {
	if carries(current.GetLabels(), wanted.GetLabels()) {
		return false
	}
	current.SetLabels(withLabels(current.GetLabels(), wanted.GetLabels()))
	return true
}

// mergeSecret replaces the data as a whole: another manager's key in a
// connection Secret would be taken for ours.
func mergeSecret(current, wanted client.Object) bool {
	changed := mergeLabels(current, wanted)
	have, want := current.(*corev1.Secret), wanted.(*corev1.Secret) //nolint:errcheck,forcetypeassert // called for Secrets only
	if !equality.Semantic.DeepEqual(have.Data, want.Data) {
		have.Data, changed = want.Data, true
	}
	return changed
}

// mergeService replaces ports and selector as a whole. Type, cluster IP and node
// ports stay as they are.
func mergeService(current, wanted client.Object) bool {
	changed := mergeLabels(current, wanted)
	have, want := current.(*corev1.Service), wanted.(*corev1.Service) //nolint:errcheck,forcetypeassert // called for Services only
	nodePorts := map[string]int32{}
	ports := make([]corev1.ServicePort, 0, len(have.Spec.Ports))
	for _, port := range have.Spec.Ports {
		nodePorts[port.Name] = port.NodePort
		port.NodePort = 0
		ports = append(ports, port)
	}
	if !equality.Semantic.DeepEqual(ports, want.Spec.Ports) {
		have.Spec.Ports, changed = slices.Clone(want.Spec.Ports), true
		for i := range have.Spec.Ports {
			have.Spec.Ports[i].NodePort = nodePorts[have.Spec.Ports[i].Name]
		}
	}
	if len(have.Spec.Selector) > 0 {
		have.Spec.Selector, changed = nil, true
	}
	return changed
}

func mergeSlice(current, wanted client.Object) bool {
	changed := mergeLabels(current, wanted)
	have, want := current.(*discoveryv1.EndpointSlice), wanted.(*discoveryv1.EndpointSlice) //nolint:errcheck,forcetypeassert // called for EndpointSlices only
	if !equality.Semantic.DeepEqual(have.Endpoints, want.Endpoints) {
		have.Endpoints, changed = want.Endpoints, true
	}
	if !equality.Semantic.DeepEqual(have.Ports, want.Ports) {
		have.Ports, changed = want.Ports, true
	}
	return changed
}

func describe(object client.Object) string {
	kind := "EndpointSlice"
	switch object.(type) {
	case *corev1.Secret:
		kind = "Secret"
	case *corev1.Service:
		kind = "Service"
	}
	return kind + " " + object.GetName()
}
