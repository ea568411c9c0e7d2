package rights

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/chart/rendering"
	"github.com/example/vmoperator/src/test/operator"
)

// installation is a release of the chart: its rights are as rendered, and what
// would run in pods runs here, with the same flags, as the same service accounts.
type installation struct {
	t *testing.T
	// name is the release's, home its namespace, and team the one that it watches.
	name, home, team string
	objects          []unstructured.Unstructured
	operator         *operator.Operator
}

// install makes the rights of a release. In values, TEAM is the namespace that may
// be watched.
func install(t *testing.T, name string, values ...string) *installation {
	t.Helper()
	i := &installation{t: t, name: name, home: namespace(t), team: namespace(t)}
	for n := range values {
		values[n] = strings.ReplaceAll(values[n], "TEAM", i.team)
	}
	var err error
	if i.objects, err = rendering.Chart(t.Context(), root, name, i.home, values...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.remove)
	for _, object := range i.objects {
		if isRight(object) {
			create(t, object.DeepCopy())
		}
	}
	return i
}

func isRight(object unstructured.Unstructured) bool {
	return object.GroupVersionKind().Group == rbac || object.GetKind() == "ServiceAccount"
}

// remove takes away what would be in the way of the next run: what is of the
// cluster, and the claims, which outlast the release.
func (i *installation) remove() {
	ctx := context.WithoutCancel(i.t.Context())
	for _, object := range i.objects {
		if isRight(object) && object.GetNamespace() == "" {
			if err := client.IgnoreNotFound(kube.Delete(ctx, &object)); err != nil {
				i.t.Error(err)
			}
		}
	}
	for _, place := range []string{i.home, i.team} {
		if err := kube.DeleteAllOf(ctx, &coordinationv1.Lease{}, client.InNamespace(place)); err != nil {
			i.t.Error(err)
		}
	}
}

func namespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "rights-"}}
	create(t, made)
	return made.Name
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// as is how a service account of the release reaches the apiserver.
func (i *installation) as(holder Holder) *rest.Config {
	i.t.Helper()
	user := "system:serviceaccount:" + i.home + ":" + i.name + "-" + string(holder)
	config, err := plane.AddUser(user, "system:serviceaccounts", "system:serviceaccounts:"+i.home)
	if err != nil {
		i.t.Fatal(err)
	}
	return config
}

// start starts the operator once the apiserver knows of its rights: one that comes
// too early tries again only half a minute later.
func (i *installation) start() {
	i.t.Helper()
	config := i.as(Operator)
	user, err := client.New(config, client.Options{Scheme: kube.Scheme()})
	if err != nil {
		i.t.Fatal(err)
	}
	operator.WaitFor(i.t, "the rights to be known", func(ctx context.Context) bool {
		return user.List(ctx, &computev1.VirtualMachineList{}, client.InNamespace(i.team)) == nil
	})
	deployments, err := rendering.OfKind[appsv1.Deployment](i.objects, "Deployment")
	if err != nil || len(deployments) != 1 {
		i.t.Fatalf("%d Deployments, error %v", len(deployments), err)
	}
	// Where probes and metrics are served is the test's to say, for several operators run here.
	args := slices.DeleteFunc(slices.Clone(deployments[0].Spec.Template.Spec.Containers[0].Args), func(arg string) bool {
		return strings.Contains(arg, "-bind-address=")
	})
	i.operator = operator.Start(i.t, operator.Options{
		Executable: executable, Config: config, Args: args, Environment: []string{"POD_NAMESPACE=" + i.home},
	})
}

// stop ends the operator as Kubernetes does.
func (i *installation) stop() {
	i.t.Helper()
	i.operator.Terminate()
	i.operator.WantEnd()
}

// hook runs what a hook of the chart runs, and returns its exit status.
func (i *installation) hook(holder Holder, args []string) int {
	i.t.Helper()
	command := exec.CommandContext(i.t.Context(), executable, append(slices.Clone(args), "--kubeconfig="+operator.Kubeconfig(i.t, i.as(holder)))...)
	command.Env = append(os.Environ(), "POD_NAMESPACE="+i.home)
	out, err := command.CombinedOutput()
	if command.ProcessState == nil {
		i.t.Fatal(err)
	}
	i.t.Logf("%s said:\n%s", holder, out)
	return command.ProcessState.ExitCode()
}

func (i *installation) smokeTest() int {
	i.t.Helper()
	pods, err := rendering.OfKind[corev1.Pod](i.objects, "Pod")
	if err != nil || len(pods) != 1 {
		i.t.Fatalf("%d Pods, error %v", len(pods), err)
	}
	return i.hook(SmokeTest, pods[0].Spec.Containers[0].Args)
}

func (i *installation) uninstallGuard() int {
	i.t.Helper()
	jobs, err := rendering.OfKind[batchv1.Job](i.objects, "Job")
	if err != nil || len(jobs) != 1 {
		i.t.Fatalf("%d Jobs, error %v", len(jobs), err)
	}
	return i.hook(UninstallGuard, jobs[0].Spec.Template.Spec.Containers[0].Args)
}

func (i *installation) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: i.team, Name: name}
}

// vm makes a VirtualMachine.
func (i *installation) vm(name string, changes ...func(*computev1.VirtualMachine)) *computev1.VirtualMachine {
	i.t.Helper()
	vm := builders.VirtualMachine(i.team, name, changes...)
	create(i.t, vm)
	return vm
}

// running waits until a VM runs and returns its id.
func (i *installation) running(name string) string {
	i.t.Helper()
	vm := &computev1.VirtualMachine{ObjectMeta: i.meta(name)}
	i.awaits(name+" to run", vm, func() bool {
		return meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionReady) && vm.Status.ID != ""
	})
	return vm.Status.ID
}

// awaits waits until an object is there and as it should be.
func (i *installation) awaits(what string, object client.Object, is func() bool) {
	i.t.Helper()
	operator.WaitFor(i.t, what, func(ctx context.Context) bool {
		return kube.Get(ctx, client.ObjectKeyFromObject(object), object) == nil && is()
	})
}

// change edits an object, as a user does.
func change[T client.Object](i *installation, object T, edit func(T)) {
	i.t.Helper()
	if err := kube.Get(i.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		i.t.Fatal(err)
	}
	before := object.DeepCopyObject().(client.Object)
	edit(object)
	if err := kube.Patch(i.t.Context(), object, client.MergeFrom(before)); err != nil {
		i.t.Fatal(err)
	}
}

// deleted deletes objects and waits until they are gone.
func (i *installation) deleted(objects ...client.Object) {
	i.t.Helper()
	for _, object := range objects {
		if err := kube.Delete(i.t.Context(), object); err != nil {
			i.t.Fatal(err)
		}
	}
	for _, object := range objects {
		i.gone(object)
	}
}

// gone waits until an object is gone.
func (i *installation) gone(object client.Object) {
	i.t.Helper()
	operator.WaitFor(i.t, object.GetName()+" to go", func(ctx context.Context) bool {
		return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(object), object))
	})
}
