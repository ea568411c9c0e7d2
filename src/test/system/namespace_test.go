package system

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/test/operator"
)

// Everything in the namespace is deleted at once, and the VMs still need their
// ProviderConfig and its Secret. The operator's rights are cluster-wide here: those
// that are the namespace's own would go first.
func TestANamespaceGoesWithItsVMs(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "--delete-seconds=1")
	w := newWorld(t)
	w.working(p.URL())
	names := []string{"web-1", "web-2", "web-3"}
	for _, name := range names {
		w.vm(name)
	}
	w.wantMachines(p, names...)

	place := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	if err := kube.Delete(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	operator.WaitFor(t, "the namespace to go", func(ctx context.Context) bool {
		return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(place), place))
	})
	if left := machines(t, p); len(left) > 0 {
		t.Errorf("left at the provider: %v", left)
	}
	w.operator.Terminate()
	w.operator.WantEnd()
}
