//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A provider that has lost its VMs would be taken for a mass disappearance.
func TestAMockProviderWhoseContainerRestartsHasLostNothing(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := installAt(t, p)
	r.vm("web")
	r.vm("db")
	ids := r.allRunning(2)
	var pods corev1.PodList
	must(t, kube.List(t.Context(), &pods, client.InNamespace(p.namespace)))
	if len(pods.Items) != 1 {
		t.Fatalf("%d pods of the mock provider, want one", len(pods.Items))
	}
	pod := &pods.Items[0]
	kubectl(t, "exec", "--namespace="+p.namespace, pod.Name, "--", "python", "-c", "import os, signal; os.kill(1, signal.SIGTERM)")
	waitFor(t, func(ctx context.Context) string {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err.Error()
		}
		for _, status := range pod.Status.ContainerStatuses {
			if status.RestartCount == 1 && status.Ready {
				return ""
			}
		}
		return fmt.Sprintf("the containers are %+v", pod.Status.ContainerStatuses)
	})
	if kept := p.machines(); len(kept) != 2 {
		t.Errorf("the provider has %v after its restart, want both VMs", kept)
	}
	r.vm("after")
	for name, id := range r.allRunning(3) {
		if before, known := ids[name]; known && before != id {
			t.Errorf("%s was %s and is %s", name, before, id)
		}
	}
	if made := p.machines(); len(slices.Compact(made)) != 3 {
		t.Errorf("the provider has %v, want 3 VMs", made)
	}
}
