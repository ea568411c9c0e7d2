package system

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
)

// What a deletion may begin with.
const (
	theVMs       = "the VMs"
	theConfig    = "the ProviderConfig"
	theSecret    = "the Secret"
	theNamespace = "the namespace"
)

// orders are all in which a user can delete what belongs together, and the two
// ways to delete all of it at once.
func orders() [][]string {
	return append(permutations([]string{theVMs, theConfig, theSecret}), []string{theNamespace}, []string{strings.Join([]string{theVMs, theConfig, theSecret}, "+")})
}

func permutations(of []string) [][]string {
	if len(of) < 2 {
		return [][]string{of}
	}
	var all [][]string
	for i, first := range of {
		for _, rest := range permutations(slices.Delete(slices.Clone(of), i, i+1)) {
			all = append(all, append([]string{first}, rest...))
		}
	}
	return all
}

// estate is a namespace with VMs, their ProviderConfig and its Secret, and the
// order in which they are deleted.
type estate struct {
	*world

	order []string
}

var estateVMs = []string{"web-1", "web-2"}

// meanwhile is what else happens while things are deleted.
type meanwhile struct {
	name string
	// before the first deletion, and after the last.
	before, after func(*testing.T, *estates)
	// late VMs are made just before they are deleted, so that nobody waits for them.
	late bool
}

// estates are one for each order, at one provider under one operator.
type estates struct {
	namespaces []string
	all        []*estate
	operator   *operator.Operator
	provider   *mockprovider.Provider
	metronome  *metronome
}

// Whatever is deleted first, whoever is away meanwhile: in the end there is no VM
// and no object.
func TestWhateverIsDeletedFirstAllOfItGoes(t *testing.T) {
	for kind, flags := range map[string][]string{
		"at a provider of everything that deletes slowly":   {"--provision-seconds=0.1", "--delete-seconds=1"},
		"at a provider of the minimum, while it provisions": {"--minimal", "--provision-seconds=600"},
	} {
		for _, m := range []meanwhile{
			{name: "with all up", before: nothingElse, after: nothingElse, late: true},
			{name: "with the operator down", before: operatorGoes, after: operatorComes},
			{name: "with the provider unreachable", before: providerGoes, after: providerComes},
		} {
			t.Run(kind+" "+m.name, func(t *testing.T) {
				t.Parallel()
				e := newEstates(t, flags)
				m.before(t, e)
				for _, each := range e.all {
					each.delete(m.late)
				}
				m.after(t, e)
				for _, each := range e.all {
					each.wantGone()
				}
				e.wantLedger(t)
			})
		}
	}
}

func newEstates(t *testing.T, flags []string) *estates {
	t.Helper()
	e := &estates{namespaces: []string{namespace(t)}, provider: startProvider(t, flags...)}
	for range orders() {
		e.namespaces = append(e.namespaces, namespace(t))
	}
	e.operator = startOperator(t, e.namespaces, loopback)
	e.metronome = startMetronome(t, e.namespaces[0])
	for i, order := range orders() {
		w := &world{t: t, namespace: e.namespaces[i+1], operator: e.operator}
		w.working(e.provider.URL())
		for _, name := range estateVMs {
			w.vm(name)
		}
		e.all = append(e.all, &estate{world: w, order: order})
	}
	for _, each := range e.all {
		each.made()
	}
	return e
}

// made waits until the VMs have ids, and the Secret is kept for them.
func (e *estate) made() {
	e.t.Helper()
	secret := &corev1.Secret{ObjectMeta: e.meta("credentials")}
	operator.WaitFor(e.t, "the VMs of "+e.namespace, func(ctx context.Context) bool {
		for _, name := range estateVMs {
			vm := &computev1.VirtualMachine{ObjectMeta: e.meta(name)}
			if kube.Get(ctx, client.ObjectKeyFromObject(vm), vm) != nil || vm.Status.ID == "" {
				return false
			}
		}
		err := kube.Get(ctx, client.ObjectKeyFromObject(secret), secret)
		return err == nil && slices.Contains(secret.Finalizers, computev1.CredentialsFinalizer)
	})
}

// delete deletes in the estate's order, as `kubectl delete --wait=false` does.
func (e *estate) delete(late bool) {
	e.t.Helper()
	if late {
		e.vm("late")
	}
	for _, step := range e.order {
		for _, object := range e.objects(step) {
			err := kube.Delete(e.t.Context(), object)
			if client.IgnoreNotFound(err) != nil {
				e.t.Fatal(err)
			}
		}
	}
}

// objects are those that a step of an order is about.
func (e *estate) objects(step string) []client.Object {
	var objects []client.Object
	for what := range strings.SplitSeq(step, "+") {
		switch what {
		case theVMs:
			for _, name := range append([]string{"late"}, estateVMs...) {
				objects = append(objects, &computev1.VirtualMachine{ObjectMeta: e.meta(name)})
			}
		case theConfig:
			objects = append(objects, &computev1.ProviderConfig{ObjectMeta: e.meta(computev1.DefaultProviderConfig)})
		case theSecret:
			objects = append(objects, &corev1.Secret{ObjectMeta: e.meta("credentials")})
		case theNamespace:
			objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}})
		}
	}
	return objects
}

// wantGone waits until everything that was deleted is gone.
func (e *estate) wantGone() {
	e.t.Helper()
	for _, step := range e.order {
		for _, object := range e.objects(step) {
			var last error
			what := fmt.Sprintf("%T %s to go, deleted in the order %v", object, object.GetName(), e.order)
			operator.WaitFor(e.t, what, func(ctx context.Context) bool {
				last = kube.Get(ctx, client.ObjectKeyFromObject(object), object)
				return apierrors.IsNotFound(last)
			})
		}
	}
}

// wantLedger fails if the provider has a VM left, or was asked for more than there
// were objects.
func (e *estates) wantLedger(t *testing.T) {
	t.Helper()
	for _, id := range machines(t, e.provider) {
		t.Errorf("left at the provider: %s, of which the ledger tells:\n%s\nand the operator:\n%s",
			id, strings.Join(e.entries(t, id), "\n"), strings.Join(e.operator.Lines(`"late"`), "\n"))
	}
	made, most := 0, len(e.all)*(len(estateVMs)+1)
	for _, request := range requests(t, e.provider) {
		if request.Operation == "create" && request.Effect {
			made++
		}
	}
	if made > most {
		t.Errorf("%d VMs were made for %d objects", made, most)
	}
	t.Logf("%d orders of deletion, %d VMs made and deleted, none left", len(e.all), made)
}

// entries are the ledger's about one VM.
func (e *estates) entries(t *testing.T, id string) []string {
	t.Helper()
	var found []string
	for _, request := range requests(t, e.provider) {
		if request.ID == id {
			found = append(found, fmt.Sprintf("%+v", request))
		}
	}
	return found
}

// nothingElse lets the operator see each deletion.
func nothingElse(*testing.T, *estates) {}

func operatorGoes(_ *testing.T, e *estates) { e.operator.Kill() }

func operatorComes(t *testing.T, e *estates) {
	t.Helper()
	e.operator = startOperator(t, e.namespaces, loopback)
}

func providerGoes(t *testing.T, e *estates) {
	t.Helper()
	fault(t, e.provider, mockprovider.Fault{Operation: "*", Drop: true, Count: -1})
}

// providerComes back once the operator has had time to do something rash: nothing
// may go while nobody can say whether its VM is there.
func providerComes(t *testing.T, e *estates) {
	t.Helper()
	e.metronome.wait(t, 2)
	for _, each := range e.all {
		for _, name := range estateVMs {
			vm := &computev1.VirtualMachine{ObjectMeta: each.meta(name)}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
				t.Errorf("%s, deleted in the order %v: %v, though its VM is at a provider that nobody reaches", name, each.order, err)
			}
		}
	}
	clearFaults(t, e.provider)
}
