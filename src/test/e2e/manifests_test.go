//go:build e2e

package e2e

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/test/builders"
)

// The manifests make and take away what the other tests need, so it runs before
// them: a test that is not parallel does.
func TestTheManifestsWorkWithoutHelm(t *testing.T) {
	crds, err := ourCRDs(t.Context())
	must(t, err)
	if len(crds) > 0 {
		t.Fatalf("the cluster has CRDs of ours already: %s", crds[0].Name)
	}
	manifests := []string{root + "/out/crds.yaml", root + "/out/install.yaml", root + "/out/mock-provider.yaml"}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if t.Failed() {
			t.Log(stateOf(ctx, "vmoperator-system"))
		}
	})
	for _, manifest := range manifests {
		kubectl(t, "apply", "--filename="+manifest)
	}
	kubectl(t, "wait", "--for=condition=Established", "--timeout="+patience.String(), "--filename="+manifests[0])
	for _, name := range []string{"vmoperator-controller-manager", "vmoperator-mock-provider"} {
		kubectl(t, "rollout", "status", "--namespace=vmoperator-system", "--timeout="+patience.String(), "deployment/"+name)
	}
	r := &release{t: t, namespace: "vmoperator-system", watched: []string{"default"}}
	r.provider = &provider{t: t, namespace: r.namespace, service: "vmoperator-mock-provider"}
	must(t, kube.Create(t.Context(), builders.ProviderConfig("default", "default", r.endpoint())))
	r.vm("manifests")
	r.running("manifests")
	must(t, deleteObjects(t.Context(), "default"))
	if left := r.machines(); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
	for _, manifest := range []string{manifests[2], manifests[1], manifests[0]} {
		kubectl(t, "delete", "--wait", "--timeout="+patience.String(), "--filename="+manifest)
	}
	if err := kube.Get(t.Context(), client.ObjectKey{Name: r.namespace}, namespaceNamed("")); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace is left: %v", err)
	}
}
