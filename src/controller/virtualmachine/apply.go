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
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/controller/virtualmachine/childcache"
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

// childWrite is one change of the object that should be, or of one that should not.
type childWrite struct {
	object client.Object
	verb   childVerb
}

type childVerb uint8

const (
	createChild childVerb = iota
	updateChild
	removeChild
)

// observeChildren compares the children in the cache with those that should be.
func (r *Reconciler) observeChildren(p *pass) decide.Children {
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
	r.plan(&plan, p.vm, wanted.secret)
	r.plan(&plan, p.vm, wanted.service)
	for family, slice := range wanted.slices {
		if slice == nil {
			r.planRemoval(&plan, p.vm, family)
			continue
		}
		r.plan(&plan, p.vm, slice)
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
func (r *Reconciler) plan(plan *childPlan, vm *computev1.VirtualMachine, wanted client.Object) {
	current, found := r.children.Get(childcache.KindOf(wanted), client.ObjectKeyFromObject(wanted))
	switch {
	case !found:
		// The cache holds only what carries our label, so something may still be there.
		plan.writes = append(plan.writes, childWrite{object: wanted, verb: createChild})
	case !current.IsOf(vm.UID):
		plan.blocked = append(plan.blocked, describe(wanted))
	case current.Terminating:
		// It is made again once it is gone.
	case current.Content != digest(wanted):
		plan.writes = append(plan.writes, childWrite{object: wanted, verb: updateChild})
	}
}

// planRemoval adds the removal of a slice that has no address left.
func (r *Reconciler) planRemoval(plan *childPlan, vm *computev1.VirtualMachine, family discoveryv1.AddressType) {
	slice := &discoveryv1.EndpointSlice{ObjectMeta: childMeta(vm, sliceName(vm, family))}
	current, found := r.children.Get(childcache.EndpointSlices, client.ObjectKeyFromObject(slice))
	if found && current.IsOf(vm.UID) && !current.Terminating {
		plan.writes = append(plan.writes, childWrite{object: slice, verb: removeChild})
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

// write makes one change and says what it did; nothing, if there was nothing to do
// after all.
func (r *Reconciler) write(ctx context.Context, plan *childPlan, write childWrite) (string, error) {
	switch write.verb {
	case removeChild:
		return r.removeChild(ctx, write.object)
	case updateChild:
		return r.updateChild(ctx, plan, write.object)
	default:
		wanted := copyOf(write.object)
		err := r.Client.Create(ctx, write.object, client.FieldOwner(computev1.FieldOwner))
		if apierrors.IsAlreadyExists(err) {
			// Ours without its label, or somebody else's.
			return r.updateChild(ctx, plan, wanted)
		}
		return "created", err
	}
}

// updateChild makes an object that is there what it should be. The cache shows that
// it differs, or shows none; only the apiserver has the rest of it, which must stay.
func (r *Reconciler) updateChild(ctx context.Context, plan *childPlan, wanted client.Object) (string, error) {
	current := copyOf(wanted)
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

// removeChild deletes the very object that the cache shows to be ours.
func (r *Reconciler) removeChild(ctx context.Context, unwanted client.Object) (string, error) {
	current := copyOf(unwanted)
	err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(unwanted), current)
	if err != nil || !ownedLike(current, unwanted) {
		return "", client.IgnoreNotFound(err)
	}
	uid := current.GetUID()
	err = r.Client.Delete(ctx, current, client.Preconditions{UID: &uid})
	return "removed", client.IgnoreNotFound(err)
}

func copyOf(object client.Object) client.Object {
	return object.DeepCopyObject().(client.Object) //nolint:errcheck,forcetypeassert // a copy has its original's type
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

// mergeAny takes over into a child, as it is, everything that is ours of it, as it
// should be. It reports whether that changed anything: only where their digests
// differ.
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
