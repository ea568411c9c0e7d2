package quiet

import (
	"context"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example/vmoperator/src/test/chart/rendering"
)

// What the API server sets by itself must not look like a change of somebody's.
func TestWhatTheAPIServerMakesOfTheChartIsNoDifferenceToArgoCD(t *testing.T) {
	for _, environment := range []string{"dev", "prod"} {
		t.Run(environment, func(t *testing.T) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "quiet-"}}
			if err := kube.Create(t.Context(), namespace); err != nil {
				t.Fatal(err)
			}
			values := filepath.Join(root, "gitops", "environments", environment, "operator.yaml")
			objects, err := rendering.Chart(t.Context(), root, "vmoperator", namespace.Name, "--skip-tests", "--values="+values)
			if err != nil {
				t.Fatal(err)
			}
			for i := range objects {
				object := &objects[i]
				if err := apply(t.Context(), object.DeepCopy()); err != nil {
					t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
				waitFor(t, func(ctx context.Context) string { return difference(ctx, object) })
			}
		})
	}
}
