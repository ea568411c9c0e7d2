package samples

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
	"github.com/example/vmoperator/src/test/operator"
)

// TestTheSamplesAreAppliedWorkAndAreUninstalled is a story: each part finds the cluster as the one before it left it.
func TestTheSamplesAreAppliedWorkAndAreUninstalled(t *testing.T) {
	vms := fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})
	server := httptest.NewServer(wire.Handler(vms))
	t.Cleanup(server.Close)
	// The kinds are there at first, for the garbage collector's sake; a run that is repeated finds none.
	run(t, exec.CommandContext(t.Context(), "make", "-C", root, "install"))
	applied := t.Run("there is a sample of every kind", everyKindHasASample) &&
		t.Run("kubectl apply takes them, as the README has it", func(t *testing.T) {
			kubectl(t, "apply", "--dry-run=server", "--validate=strict", "-f", samples)
		}) &&
		t.Run("server-side apply takes them", func(t *testing.T) {
			kubectl(t, "apply", "--server-side", "--validate=strict", "-f", samples)
		}) &&
		t.Run("applying them again changes nothing", appliedAgainNothingChanges)
	if !applied {
		return
	}
	// The sample's endpoint is where a mock provider would be.
	kubectl(t, "patch", "pcfg", "default", "--type=merge", "-p", `{"spec":{"endpoint":"`+server.URL+`"}}`)
	operator.Start(t, operator.Options{Executable: executable, Config: plane.Config, Args: []string{
		"--watch-namespaces=" + namespace, "--leader-election-namespace=" + namespace,
		"--allow-endpoint-cidrs=127.0.0.0/8", "--transition-poll-interval=200ms",
	}})
	podsRun(t)
	// The first that fails ends the rest, and has failed the test itself.
	_ = t.Run("the VMs run, and are led to", vmsRun) &&
		t.Run("the AppAutoscaler's Deployment is as declared", autoscalerAligned) &&
		t.Run("the MyApp has its Deployment and its Service", myAppReady) &&
		t.Run("make uninstall leaves nothing", func(t *testing.T) { uninstall(t, vms) })
}

// kubectl is what a user types, and what it prints.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), plane.Kubectl(), append([]string{"--cache-dir=" + t.TempDir()}, args...)...)
	return run(t, command)
}

func run(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	command.Env = append(os.Environ(), "KUBECONFIG="+operator.Kubeconfig(t, plane.Config),
		// The Makefile takes the first kubectl that it finds; what a make around this test was told is not meant for it.
		"PATH="+filepath.Dir(plane.Kubectl())+string(os.PathListSeparator)+os.Getenv("PATH"), "MAKEFLAGS=")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, out)
	}
	return string(out)
}

// kinds are those of the CRDs, as kubectl names them.
func kinds(t *testing.T) []string {
	t.Helper()
	var list apiextensionsv1.CustomResourceDefinitionList
	if err := kube.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func everyKindHasASample(t *testing.T) {
	out := kubectl(t, "create", "--dry-run=client", "-f", samples, "-o", `jsonpath={.kind}{"\n"}`)
	var list apiextensionsv1.CustomResourceDefinitionList
	if err := kube.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if kind := list.Items[i].Spec.Names.Kind; !slices.Contains(strings.Fields(out), kind) {
			t.Errorf("docs/samples has no %s", kind)
		}
	}
}

func appliedAgainNothingChanges(t *testing.T) {
	versions := func() string {
		return kubectl(t, "get", "-f", samples, "-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	}
	// The first write after the creation stores the status that is a default, whoever makes it.
	kubectl(t, "apply", "--server-side", "-f", samples)
	before := versions()
	kubectl(t, "apply", "--server-side", "-f", samples)
	if diff := cmp.Diff(before, versions()); diff != "" {
		t.Error(diff)
	}
}

// podsRun stands in for scheduler and kubelets until the test ends: every Pod is
// ready.
func podsRun(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A Pod may be gone, or changed by somebody else: the next look sees.
		// It ends with its context, and with no other error.
		_ = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			var pods corev1.PodList
			if err := kube.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
				return false, nil //nolint:nilerr // the next look may succeed
			}
			for i := range pods.Items {
				makeReady(ctx, &pods.Items[i])
			}
			return false, nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func makeReady(ctx context.Context, pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodRunning {
		return
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	_ = kube.Status().Update(ctx, pod) // the next look sees whether it was gone, or changed
}

// untilReady waits until an object, of its present generation, is Ready and Synced.
func untilReady(t *testing.T, object client.Object, conditions func() (generation int64, all []metav1.Condition)) {
	t.Helper()
	operator.WaitFor(t, object.GetName()+" to be Ready", func(ctx context.Context) bool {
		if kube.Get(ctx, client.ObjectKeyFromObject(object), object) != nil {
			return false
		}
		generation, all := conditions()
		return generation == object.GetGeneration() && meta.IsStatusConditionTrue(all, computev1.ConditionReady) &&
			meta.IsStatusConditionTrue(all, computev1.ConditionSynced)
	})
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func vmsRun(t *testing.T) {
	for _, name := range []string{"my-vm", "web"} {
		vm := &computev1.VirtualMachine{ObjectMeta: named(name)}
		untilReady(t, vm, func() (int64, []metav1.Condition) { return vm.Status.ObservedGeneration, vm.Status.Conditions })
		secret := &corev1.Secret{ObjectMeta: named(name + "-connection")}
		operator.WaitFor(t, "Secret and Service of "+name, func(ctx context.Context) bool {
			return kube.Get(ctx, client.ObjectKeyFromObject(secret), secret) == nil && string(secret.Data["id"]) == vm.Status.ID &&
				kube.Get(ctx, client.ObjectKeyFromObject(vm), &corev1.Service{}) == nil
		})
	}
}

func autoscalerAligned(t *testing.T) {
	autoscaler := &exampleappsv1.AppAutoscaler{ObjectMeta: named("order-service-autoscaler")}
	untilReady(t, autoscaler, func() (int64, []metav1.Condition) {
		return autoscaler.Status.ObservedGeneration, autoscaler.Status.Conditions
	})
	if autoscaler.Status.State != exampleappsv1.StateAligned || autoscaler.Status.Replicas != 5 {
		t.Errorf("the status is %+v", autoscaler.Status)
	}
	deployment := &appsv1.Deployment{ObjectMeta: named("order-service")}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment); err != nil {
		t.Fatal(err)
	}
	if image := deployment.Spec.Template.Spec.Containers[0].Image; *deployment.Spec.Replicas != 5 || image != autoscaler.Spec.Image {
		t.Errorf("%d replicas of %s", *deployment.Spec.Replicas, image)
	}
}

func myAppReady(t *testing.T) {
	app := &exampleappsv1.MyApp{ObjectMeta: named("shop")}
	untilReady(t, app, func() (int64, []metav1.Condition) { return app.Status.ObservedGeneration, app.Status.Conditions })
	if app.Status.AvailableReplicas != 2 {
		t.Errorf("the status is %+v", app.Status)
	}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(app), &corev1.Service{}); err != nil {
		t.Error(err)
	}
}

var deletedLine = regexp.MustCompile(`(?m)^([a-z0-9.]+) "[^"]+" (?:force )?deleted`)

// uninstall looks at what `make uninstall` prints as well: it deletes in the order that
// docs/operations.md gives, and no kind before its objects.
func uninstall(t *testing.T, vms *fake.Provider) {
	t.Helper()
	before := kinds(t)
	out := run(t, exec.CommandContext(t.Context(), "make", "-C", root, "uninstall"))
	var order []string
	for _, match := range deletedLine.FindAllStringSubmatch(out, -1) {
		order = append(order, match[1])
	}
	want := []string{
		"virtualmachine.compute.example.com", "providerconfig.compute.example.com", "appautoscaler.apps.example.io", "myapp.apps.example.io",
		"customresourcedefinition.apiextensions.k8s.io",
	}
	if diff := cmp.Diff(want, slices.Compact(order)); diff != "" {
		t.Errorf("deleted in this order: %s\n%s", diff, out)
	}
	if left := kinds(t); len(before) == 0 || len(left) > 0 {
		t.Errorf("there were the kinds %v, and there are %v", before, left)
	}
	if left := vms.Live(); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
	operator.WaitFor(t, "Deployments, Secrets and Services to be collected", func(ctx context.Context) bool {
		var deployments appsv1.DeploymentList
		var secrets corev1.SecretList
		var services corev1.ServiceList
		for _, list := range []client.ObjectList{&deployments, &secrets, &services} {
			if kube.List(ctx, list, client.InNamespace(namespace)) != nil {
				return false
			}
		}
		// The Service of the API server itself stays.
		return len(deployments.Items) == 0 && len(secrets.Items) == 0 && len(services.Items) == 1
	})
}
