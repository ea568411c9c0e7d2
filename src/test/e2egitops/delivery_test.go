//go:build e2e

package e2egitops

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// delivery is what Argo CD delivers from a repository.
type delivery struct {
	t    *testing.T
	kube client.Client
	git  *repository
}

// The chapters of one story: each goes on where the one before has left.
func TestArgoCDDeliversTheOperatorAndItsObjects(t *testing.T) {
	d := &delivery{t: t, kube: connect(t), git: serve(t)}
	buildImages(t)
	started := time.Now()
	d.bootstrap()
	t.Cleanup(d.remove)
	d.settled()
	d.running("web", 2)
	t.Logf("VMs run, and all is Synced and Healthy, %s after the Application root was made; syncs: %s", time.Since(started).Round(time.Second), d.syncs())

	for _, chapter := range []struct {
		name string
		tell func(*delivery)
	}{
		{"a commit that changes a VM is followed", (*delivery).commitIsFollowed},
		{"a hand edit is healed by whoever owns the field", (*delivery).handEditIsHealed},
		{"nothing is written when nothing changes", (*delivery).nothingIsWritten},
		{"a revert is a rollback", (*delivery).revertIsRollback},
		{"the deletion of vms leaves no VM, and root makes it again", (*delivery).deletionLeavesNoVM},
		{"the deletion of root leaves nothing but namespaces and CRDs", (*delivery).deletionEndsClean},
	} {
		if !t.Run(chapter.name, func(t *testing.T) {
			chapter.tell(&delivery{t: t, kube: d.kube, git: &repository{t: t, tree: d.git.tree, url: d.git.url}})
		}) {
			return
		}
	}
}

// bootstrap is what gitops/README.md says, with the test's repository and images.
func (d *delivery) bootstrap() {
	d.t.Helper()
	d.git.edit("gitops/root/values.yaml", "https://github.com/example/vmoperator.git", d.git.url)
	d.git.edit("gitops/image.yaml", "ghcr.io", strings.TrimSuffix(images, "/"))
	d.git.edit("gitops/image.yaml", "example/", "")
	d.git.edit("gitops/environments/dev/objects/apps.yaml", "registry.k8s.io/pause:3.10", applicationImage)
	d.git.commit("Deliver from here")
	run(d.t, d.git.tree, "kubectl", "patch", "configmap", "argocd-cm", "--namespace="+argoCD, "--type=merge", "--patch-file=gitops/argocd/argocd-cm.yaml")
	run(d.t, d.git.tree, "bash", "-o", "pipefail", "-c", absolute(d.t, root+"/bin/helm")+
		" template root gitops/root --set bootstrap=true --show-only templates/root.yaml | kubectl apply --server-side -f -")
}

// applications are those that there are, in the order in which they settle.
func applications() []string { return []string{"root", "vmoperator", "vms"} }

// syncs tells how often each Application was synced.
func (d *delivery) syncs() string {
	all := make([]string, 0, len(applications()))
	for _, name := range applications() {
		object, err := application(d.t.Context(), d.kube, name)
		d.must(err)
		history, _, err := unstructured.NestedSlice(object.Object, "status", "history")
		d.must(err)
		all = append(all, fmt.Sprintf("%s %d", name, len(history)))
	}
	return strings.Join(all, ", ")
}

// settled waits until all Applications are Synced and Healthy at what is published.
func (d *delivery) settled() {
	d.t.Helper()
	revision := d.git.revision()
	for _, name := range applications() {
		waitFor(d.t.Context(), d.t, func(ctx context.Context) string {
			d.refresh(ctx, name)
			return unsettled(ctx, d.kube, name, revision)
		})
	}
}

// refresh has Argo CD look at git now, and not within minutes.
func (d *delivery) refresh(ctx context.Context, name string) {
	object, err := application(ctx, d.kube, name)
	if err != nil || object == nil || object.GetAnnotations()["argocd.argoproj.io/refresh"] != "" {
		return
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}}}`))
	if err := client.IgnoreNotFound(d.kube.Patch(ctx, object, patch)); err != nil {
		d.t.Error(err)
	}
}

// running waits until a VM runs with so many CPUs.
func (d *delivery) running(name string, cpu int32) {
	d.t.Helper()
	waitFor(d.t.Context(), d.t, func(ctx context.Context) string {
		vm := &computev1.VirtualMachine{}
		if err := d.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, vm); err != nil {
			return err.Error()
		}
		if vm.Status.ObservedGeneration == vm.Generation && vm.Status.CPU == cpu && meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionReady) {
			return ""
		}
		return fmt.Sprintf("VirtualMachine %s: %+v", name, vm.Status)
	})
}

func (d *delivery) commitIsFollowed() {
	d.git.edit("gitops/environments/dev/objects/vm.yaml", "cpu: 2", "cpu: 4")
	d.git.commit("Give web more CPUs")
	d.settled()
	d.running("web", 4)
}

// A VM's size is git's, so Argo CD puts it back; a Deployment's number of Pods is
// the AppAutoscaler's, so the operator does.
func (d *delivery) handEditIsHealed() {
	ctx := d.t.Context()
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	d.must(d.kube.Patch(ctx, vm, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"cpu":8}}`))))
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "order-service"}}
	d.must(d.kube.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":5}}`))))
	d.running("web", 4)
	waitFor(ctx, d.t, func(ctx context.Context) string {
		if err := d.kube.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return err.Error()
		}
		// Its status is written until the last of the Pods that were too many is gone.
		status := deployment.Status
		if *deployment.Spec.Replicas == 2 && status.Replicas == 2 && (status.TerminatingReplicas == nil || *status.TerminatingReplicas == 0) {
			return ""
		}
		return fmt.Sprintf("order-service has %d replicas, and the status %+v", *deployment.Spec.Replicas, status)
	})
	d.settled()
}

// quiet is how long nothing may be written.
const quiet = 2 * time.Minute

func (d *delivery) nothingIsWritten() {
	before := d.versions()
	looks, revision := 0, d.git.revision()
	// Not a wait for something to happen, but for nothing to.
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ends := time.Now().Add(quiet); time.Now().Before(ends) && !d.t.Failed(); <-tick.C {
		looks++
		for _, name := range applications() {
			if missing := unsettled(d.t.Context(), d.kube, name, revision); missing != "" {
				d.t.Error(missing)
			}
		}
	}
	d.t.Logf("each Application was Synced and Healthy at each of %d looks", looks)
	if diff := cmp.Diff(before, d.versions()); diff != "" {
		d.t.Errorf("written within %s:\n%s", quiet, diff)
	}
}

// versions are the resourceVersions of all that both Argo CD and the operator write.
func (d *delivery) versions() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	for _, list := range []client.ObjectList{
		&computev1.VirtualMachineList{}, &computev1.ProviderConfigList{}, &exampleappsv1.MyAppList{}, &exampleappsv1.AppAutoscalerList{}, &appsv1.DeploymentList{},
	} {
		d.must(d.kube.List(d.t.Context(), list, client.InNamespace(namespace)))
		d.must(meta.EachListItem(list, func(object runtime.Object) error {
			accessor, err := meta.Accessor(object)
			if err == nil {
				all[fmt.Sprintf("%T %s", object, accessor.GetName())] = accessor.GetResourceVersion()
			}
			return err
		}))
	}
	return all
}

// The finalizers of VirtualMachines hold the Application until their VMs are gone.
func (d *delivery) deletionLeavesNoVM() {
	ctx := d.t.Context()
	vm := &computev1.VirtualMachine{}
	d.must(d.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "web"}, vm))
	id := vm.Status.ID
	objects, err := application(ctx, d.kube, "vms")
	d.must(err)
	d.must(d.kube.Delete(ctx, objects))
	waitFor(ctx, d.t, func(ctx context.Context) string {
		if err := d.kube.Get(ctx, client.ObjectKeyFromObject(vm), vm); err != nil {
			return err.Error()
		}
		if vm.Status.ID == "" || vm.Status.ID == id {
			return fmt.Sprintf("root has not made another VM: %+v", vm.Status)
		}
		return ""
	})
	d.settled()
	if got := d.machines(); got != 1 {
		d.t.Errorf("%d VMs at the provider, want the new one alone", got)
	}
}

// machines is how many VMs the provider has.
func (d *delivery) machines() int {
	d.t.Helper()
	shown := run(d.t, "", "kubectl", "get", "--raw",
		"/api/v1/namespaces/"+operatorNamespace+"/services/http:vmoperator-mock-provider:8080/proxy/metrics")
	found := regexp.MustCompile(`(?m)^mockprovider_vms (\d+)`).FindStringSubmatch(shown)
	if found == nil {
		d.t.Fatalf("the provider does not tell: %s", shown)
	}
	count, err := strconv.Atoi(found[1])
	d.must(err)
	return count
}

func (d *delivery) revertIsRollback() {
	d.git.revert()
	d.settled()
	d.running("web", 2)
}

func (d *delivery) deletionEndsClean() {
	ctx := d.t.Context()
	root, err := application(ctx, d.kube, "root")
	d.must(err)
	d.must(d.kube.Delete(ctx, root))
	for _, name := range []string{"vms", "vmoperator", "root"} {
		waitFor(ctx, d.t, func(ctx context.Context) string {
			object, err := application(ctx, d.kube, name)
			switch {
			case err != nil:
				return err.Error()
			case object != nil:
				return fmt.Sprintf("the Application %s is still there: %v", name, object.Object["status"])
			}
			return ""
		})
	}
	// A VirtualMachine goes when its VM is confirmed gone, so none is left.
	var left computev1.VirtualMachineList
	d.must(d.kube.List(ctx, &left, client.InNamespace(namespace)))
	var operators appsv1.DeploymentList
	d.must(d.kube.List(ctx, &operators, client.InNamespace(operatorNamespace)))
	if len(left.Items) > 0 || len(operators.Items) > 0 {
		d.t.Errorf("left: %d VirtualMachines, %d Deployments of the operator", len(left.Items), len(operators.Items))
	}
}

// remove takes away what a failed test has left, in the order that is safe.
func (d *delivery) remove() {
	ctx := context.WithoutCancel(d.t.Context())
	root, err := application(ctx, d.kube, "root")
	if err != nil {
		d.t.Error(err)
	}
	if root != nil {
		d.t.Logf("root: %v", root.Object["status"])
		if err := d.kube.Delete(ctx, root); err != nil && !apierrors.IsNotFound(err) {
			d.t.Error(err)
		}
		waitFor(ctx, d.t, func(ctx context.Context) string {
			if object, err := application(ctx, d.kube, "root"); err != nil || object != nil {
				return fmt.Sprintf("the Application root is still there: %v", err)
			}
			return ""
		})
	}
	run(d.t, "", "kubectl", "delete", "appproject", "vmoperator-root", "--namespace="+argoCD, "--ignore-not-found")
	run(d.t, "", "kubectl", "delete", "namespace", namespace, operatorNamespace, "--ignore-not-found")
	run(d.t, "", "kubectl", "delete", "crd", "--selector=app.kubernetes.io/name=vmoperator", "--ignore-not-found")
}

func (d *delivery) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}
