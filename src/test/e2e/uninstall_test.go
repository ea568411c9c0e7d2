//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

func TestUninstallingInTheDocumentedOrderLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := installAt(t, p)
	r.vm("web")
	r.vm("db")
	r.allRunning(2)
	kubectl(t, "delete", "virtualmachines,providerconfigs", "--all", "--namespace="+r.watched[0])
	r.uninstall()
	if left := p.machines(); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
	var secrets corev1.SecretList
	must(t, kube.List(t.Context(), &secrets, client.InNamespace(r.watched[0])))
	if len(secrets.Items) > 0 {
		t.Errorf("left in the namespace: %v", secrets.Items)
	}
}

func TestAnOperatorThatWasUninstalledFirstFinishesWhenItIsBack(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := installAt(t, p)
	r.vm("leaving")
	r.vm("staying")
	ids := r.allRunning(2)
	r.uninstall()
	r.deleteVM("leaving")
	vm := &computev1.VirtualMachine{}
	must(t, kube.Get(t.Context(), client.ObjectKey{Namespace: r.watched[0], Name: "leaving"}, vm))
	if made := p.machines(); len(made) != 2 {
		t.Errorf("the provider has %v, want both VMs", made)
	}
	r.upgrade()
	r.gone("leaving")
	if made := p.machines(); !slices.Equal(made, []string{ids["staying"]}) {
		t.Errorf("the provider has %v, want %s alone", made, ids["staying"])
	}
	if id := r.running("staying").Status.ID; id != ids["staying"] {
		t.Errorf("the VM was %s and is %s", ids["staying"], id)
	}
}

func TestTheGuardRefusesToUninstallWhileVMsAreLeft(t *testing.T) {
	t.Parallel()
	r := install(t, "uninstallGuard.enabled=true")
	r.vm("web")
	r.running("web")
	out, err := r.run(t.Context(), "uninstall", r.name, "--wait")
	if err == nil {
		t.Fatalf("helm uninstall went through:\n%s", out)
	}
	advice := r.guardLog()
	for _, word := range []string{r.watched[0], "web", "kubectl delete virtualmachines,providerconfigs"} {
		if !strings.Contains(advice, word) {
			t.Errorf("the guard does not say %q:\n%s", word, advice)
		}
	}
	r.running("web")
	if pods, err := r.operatorPods(t.Context()); err != nil || len(pods) != 1 {
		t.Errorf("the operator's pods are %v; %v", pods, err)
	}
	must(t, deleteObjects(t.Context(), r.watched[0]))
	r.uninstall()
}

// guardLog is what the guard's last pod has said.
func (r *release) guardLog() string {
	r.t.Helper()
	var pods corev1.PodList
	must(r.t, kube.List(r.t.Context(), &pods, client.InNamespace(r.namespace),
		client.MatchingLabels{"app.kubernetes.io/component": "uninstall-guard"}))
	if len(pods.Items) == 0 {
		r.t.Fatal("there is no pod of the guard")
	}
	content, err := logOf(r.t.Context(), r.namespace, pods.Items[0].Name)
	must(r.t, err)
	return content
}

func TestANamespaceThatWasDeletedWithItsVMsIsHealedByClusterScope(t *testing.T) {
	t.Parallel()
	// The VM takes longer to go than the Role.
	r := install(t, "mock-provider.deleteSeconds=15")
	r.vm("web")
	r.running("web")
	namespace := r.watched[0]
	must(t, kube.Delete(t.Context(), namespaceNamed(namespace)))
	// The Role goes with the rest, so the operator cannot finish.
	waitFor(t, func(ctx context.Context) string {
		var roles rbacv1.RoleList
		if err := kube.List(ctx, &roles, client.InNamespace(namespace)); err != nil {
			return err.Error()
		}
		if len(roles.Items) > 0 {
			return "the Role is still there"
		}
		return ""
	})
	must(t, kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, &computev1.VirtualMachine{}))
	// The smoke test wants a Role, and no more can be made there.
	r.upgrade("rbac.scope=cluster", "smokeTest.enabled=false")
	r.namespaceGone(namespace)
	if left := r.machines(); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
}

func TestANamespaceGoesWithItsVMsWhereRightsSurvive(t *testing.T) {
	t.Parallel()
	r := install(t, "rbac.survivesNamespaceDeletion=true")
	r.vm("web")
	r.vm("db")
	r.allRunning(2)
	must(t, kube.Delete(t.Context(), namespaceNamed(r.watched[0])))
	r.namespaceGone(r.watched[0])
	if left := r.machines(); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
}

func (r *release) namespaceGone(name string) {
	r.t.Helper()
	waitFor(r.t, func(ctx context.Context) string {
		namespace := namespaceNamed(name)
		err := kube.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		if apierrors.IsNotFound(err) {
			return ""
		}
		return "the namespace is still there: " + namespace.Status.String()
	})
}
