package system

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/operator"
)

// installation is a world whose operator has the rights that the chart gives it, in
// the world's namespace and nowhere else.
type installation struct {
	*world
	user *rest.Config
	// role is the Role, or the ClusterRole where rights survive the namespace, and
	// binding the RoleBinding to it.
	role    client.Object
	binding *rbacv1.RoleBinding
	args    []string
}

// keepRules are where the chart has the rights to its own RoleBinding from.
const keepRules = rules + "keep-role-binding.yaml"

// install makes the rights, as the chart does with rbac.survivesNamespaceDeletion
// or without it, and starts the operator.
func install(t *testing.T, survives bool) *installation {
	t.Helper()
	w := &world{t: t, namespace: namespace(t)}
	w.showLog()
	i := &installation{world: w, args: []string{loopback}}
	user, err := plane.AddUser(w.namespace)
	if err != nil {
		t.Fatal(err)
	}
	i.user = user
	kind := "Role"
	i.role = &rbacv1.Role{ObjectMeta: w.meta(w.namespace), Rules: w.managerRules()}
	if survives {
		kind = "ClusterRole"
		i.role = i.clusterRole()
		i.args = append(i.args, "--keep-role-binding="+w.namespace)
	}
	i.binding = &rbacv1.RoleBinding{
		ObjectMeta: w.meta(w.namespace),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: w.namespace},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: w.namespace}},
	}
	create(t, i.role)
	create(t, i.binding)
	i.startAgain()
	return i
}

// clusterRole are the rights that survive the namespace.
func (i *installation) clusterRole() *rbacv1.ClusterRole {
	i.t.Helper()
	keep := rulesIn(i.t, keepRules)
	keep[0].ResourceNames = []string{i.namespace}
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: i.namespace}, Rules: append(i.managerRules(), keep...)}
}

func (w *world) managerRules() []rbacv1.PolicyRule {
	w.t.Helper()
	generated := &rbacv1.ClusterRole{}
	if err := kube.Get(w.t.Context(), client.ObjectKey{Name: "vmoperator-manager-role"}, generated); err != nil {
		w.t.Fatal(err)
	}
	return generated.Rules
}

func rulesIn(t *testing.T, path string) []rbacv1.PolicyRule {
	t.Helper()
	content, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	var file rbacv1.Role
	if err := yaml.NewYAMLOrJSONDecoder(content, 4096).Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Rules
}

// startAgain starts the operator once the apiserver knows of its rights: one that
// comes too early tries again only half a minute later.
func (i *installation) startAgain() {
	i.t.Helper()
	user, err := client.New(i.user, client.Options{Scheme: kube.Scheme()})
	if err != nil {
		i.t.Fatal(err)
	}
	operator.WaitFor(i.t, "the rights to be known", func(ctx context.Context) bool {
		return user.List(ctx, &computev1.VirtualMachineList{}, client.InNamespace(i.namespace)) == nil
	})
	i.operator = startOperatorAs(i.t, i.user, []string{i.namespace}, i.args...)
}

// kept waits until the operator keeps its RoleBinding, or does not.
func (i *installation) kept(want bool) {
	i.t.Helper()
	operator.WaitFor(i.t, "the finalizer of the RoleBinding to come or to go", func(ctx context.Context) bool {
		err := kube.Get(ctx, client.ObjectKeyFromObject(i.binding), i.binding)
		return err == nil && slices.Contains(i.binding.Finalizers, computev1.RoleBindingFinalizer) == want
	})
}

func (w *world) gone(object client.Object) {
	w.t.Helper()
	operator.WaitFor(w.t, object.GetName()+" to go", func(ctx context.Context) bool {
		return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(object), object))
	})
}

func (w *world) delete(objects ...client.Object) {
	w.t.Helper()
	for _, object := range objects {
		if err := kube.Delete(w.t.Context(), object); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) place() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
}

func (w *world) config() *computev1.ProviderConfig {
	return &computev1.ProviderConfig{ObjectMeta: w.meta(computev1.DefaultProviderConfig)}
}

func TestANamespaceGoesWithItsVMsWhereTheRightsSurviveIt(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "--delete-seconds=1")
	i := install(t, true)
	i.working(p.URL())
	names := []string{"web-1", "web-2"}
	for _, name := range names {
		i.vm(name)
	}
	i.wantMachines(p, names...)
	i.kept(true)

	place := i.place()
	i.delete(place)
	i.gone(place)
	if left := machines(t, p); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
}

// The Role goes with the namespace, while the VM takes its time. The cure is what
// rbac.scope=cluster gives.
func TestANamespaceWithItsOwnRightsSticksUntilThereAreTheClusters(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "--delete-seconds=1")
	i := install(t, false)
	i.working(p.URL())
	i.vm("web")
	i.wantMachines(p, "web")

	place := i.place()
	// The operator is away while the rights go: how far it would get is a matter of luck.
	i.operator.Kill()
	i.delete(place)
	i.gone(i.role)
	i.gone(i.binding)
	i.startUnready()
	i.operator.WantLine("staying out of a namespace", "no right to list")
	vm := &computev1.VirtualMachine{ObjectMeta: i.meta("web")}
	operator.WaitFor(t, "the VirtualMachine to wait for its end", func(ctx context.Context) bool {
		return kube.Get(ctx, client.ObjectKeyFromObject(vm), vm) == nil && !vm.DeletionTimestamp.IsZero()
	})
	if left := machines(t, p); len(left) != 1 {
		t.Errorf("left at the provider: %v, want the one VM", left)
	}

	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: i.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "vmoperator-manager-role"},
		Subjects:   i.binding.Subjects,
	})
	i.operator.Kill()
	i.startAgain()
	i.gone(place)
	if left := machines(t, p); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
}

// startUnready starts an operator that has no rights.
func (i *installation) startUnready() {
	i.t.Helper()
	i.operator = operator.Start(i.t, operator.Options{
		Executable: executable, Config: i.user, Silent: true,
		Args: append([]string{"--watch-namespaces=" + i.namespace, "--leader-election-namespace=" + i.namespace}, i.args...),
	})
}

// So an uninstallation in the documented order leaves nothing that waits.
func TestRightsThatNothingNeedsAreNotKept(t *testing.T) {
	t.Parallel()
	p := startProvider(t)
	i := install(t, true)
	i.working(p.URL())
	i.kept(true)
	i.vm("web")
	i.running("web")

	i.deleted("web")
	i.kept(true)
	config := i.config()
	i.delete(config)
	i.gone(config)
	i.kept(false)
	i.operator.Kill()
	i.delete(i.binding, i.role)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(i.binding), i.binding); !apierrors.IsNotFound(err) {
		t.Errorf("the RoleBinding is left: %v", err)
	}
}

// Helm deletes the Deployment, then the RoleBinding, then the ClusterRole. Whoever
// installs the chart again finds the RoleBinding, which still serves.
func TestAnOperatorThatWentBeforeItsVMsFinishesThemWhenItIsBack(t *testing.T) {
	t.Parallel()
	p := startProvider(t)
	i := install(t, true)
	i.working(p.URL())
	i.vm("web")
	i.running("web")
	i.kept(true)
	i.operator.Kill()
	i.delete(i.binding, i.role)
	i.kept(true)

	create(t, i.clusterRole())
	i.startAgain()
	i.deleted("web")
	config := i.config()
	i.delete(config)
	i.gone(config)
	i.gone(i.binding)
	if left := machines(t, p); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
}

// The command is that of docs/troubleshooting.md.
func TestARoleBindingThatNobodyKeepsAnyMoreIsLetGoByHand(t *testing.T) {
	t.Parallel()
	w := &world{t: t, namespace: namespace(t)}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "left", Finalizers: []string{computev1.RoleBindingFinalizer}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "gone"},
	}
	create(t, binding)
	w.delete(binding)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := plane.WriteKubeconfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	patch := exec.CommandContext(t.Context(), plane.Kubectl(), "--kubeconfig="+kubeconfig,
		"-n", w.namespace, "patch", "rolebinding", "left", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	if out, err := patch.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.gone(binding)
}

// Neither bind nor escalate is needed for that, and nothing else becomes possible.
func TestTheRightToKeepTheRoleBindingGivesNoOtherRights(t *testing.T) {
	t.Parallel()
	place := namespace(t)
	config, err := plane.AddUser(place)
	if err != nil {
		t.Fatal(err)
	}
	keep := rulesIn(t, keepRules)
	keep[0].ResourceNames = []string{"powerful"}
	subject := rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: place}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: place, Name: name} }
	ref := func(kind, name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	create(t, &rbacv1.Role{ObjectMeta: meta("keeper"), Rules: keep})
	create(t, &rbacv1.RoleBinding{ObjectMeta: meta("keeper"), RoleRef: ref("Role", "keeper"), Subjects: []rbacv1.Subject{subject}})
	create(t, &rbacv1.RoleBinding{ObjectMeta: meta("powerful"), RoleRef: ref("ClusterRole", "cluster-admin")})
	user, err := client.New(config, client.Options{Scheme: kube.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	patch := func(name, patch string) error {
		return user.Patch(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta(name)}, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	const finalizers = `{"metadata":{"finalizers":["` + computev1.RoleBindingFinalizer + `"]}}`
	if err := patch("powerful", finalizers); err != nil {
		t.Errorf("the finalizer cannot be set: %v", err)
	}
	if err := patch("powerful", `{"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"`+place+`"}]}`); !apierrors.IsForbidden(err) {
		t.Errorf("a subject can be added: %v", err)
	}
	if err := patch("keeper", finalizers); !apierrors.IsForbidden(err) {
		t.Errorf("another RoleBinding can be changed: %v", err)
	}
}
