//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var memory = regexp.MustCompile(`(?m)^process_resident_memory_bytes .*`)

func TestAnInstalledOperatorMakesAVM(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"helm", "helm3"} {
		t.Run("installed by "+version, func(t *testing.T) {
			t.Parallel()
			r := newRelease(t, withMock...)
			r.helm = version
			begun := time.Now()
			r.upgrade()
			r.vm("web")
			vm := r.running("web")
			t.Logf("from helm install to Running: %s; the operator's memory: %s",
				time.Since(begun).Round(time.Second), memory.FindString(r.metrics()))
			if made := r.machines(); !slices.Equal(made, []string{vm.Status.ID}) {
				t.Errorf("the provider has %v, want %s", made, vm.Status.ID)
			}
			out, err := r.run(t.Context(), "test", r.name, "--logs")
			if err != nil || !strings.Contains(out, "passed") {
				t.Errorf("helm test: %v\n%s", err, out)
			}
			r.upgrade("podAnnotations.upgraded=yes")
			if again := r.running("web"); again.Status.ID != vm.Status.ID || again.UID != vm.UID {
				t.Errorf("the upgrade has made %s of %s", again.Status.ID, vm.Status.ID)
			}
			must(t, deleteObjects(t.Context(), r.watched[0]))
			if left := r.machines(); len(left) > 0 {
				t.Errorf("left at the provider: %v", left)
			}
			r.uninstall()
		})
	}
}

// holder is the pod that leads.
func (r *release) holder(ctx context.Context) string {
	lease := &coordinationv1.Lease{}
	if kube.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: "vmoperator-leader"}, lease) != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return pod
}

func TestAnotherPodTakesOverWhenTheLeaderIsDeleted(t *testing.T) {
	t.Parallel()
	r := install(t, "replicas=2")
	r.vm("before")
	id := r.running("before").Status.ID
	leader := r.holder(t.Context())
	must(t, kube.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: leader}}))
	waitFor(t, func(ctx context.Context) string {
		if now := r.holder(ctx); now == "" || now == leader {
			return fmt.Sprintf("the leader is %q", now)
		}
		return ""
	})
	r.vm("after")
	r.running("after")
	if got := r.running("before").Status.ID; got != id {
		t.Errorf("the VM was %s and is %s", id, got)
	}
	if made := r.machines(); len(made) != 2 {
		t.Errorf("the provider has %v, want 2 VMs", made)
	}
}

func TestAnUpgradeWhileFiftyVMsAreBeingMadeMakesFifty(t *testing.T) {
	t.Parallel()
	const count = 50
	r := install(t, "mock-provider.provisionSeconds=3")
	for number := range count {
		r.vm(fmt.Sprintf("web-%d", number))
	}
	before, err := r.operatorPods(t.Context())
	must(t, err)
	r.upgrade("podAnnotations.upgraded=yes")
	waitFor(t, func(ctx context.Context) string {
		after, err := r.operatorPods(ctx)
		if err != nil || len(after) != 1 || slices.Equal(after, before) {
			return fmt.Sprintf("the pods are %v, before the upgrade %v; %v", after, before, err)
		}
		return ""
	})
	ids := slices.Sorted(maps.Values(r.allRunning(count)))
	if made := r.machines(); !slices.Equal(made, ids) {
		t.Errorf("the provider has %d VMs, the objects %d: %v and %v", len(made), len(ids), made, ids)
	}
}
