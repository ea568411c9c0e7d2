//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var serviceMonitors = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}

// serviceMonitorCRD is the kind of the Prometheus operator, without its schema: the
// rendered objects are checked against that elsewhere.
func serviceMonitorCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "servicemonitors." + serviceMonitors.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: serviceMonitors.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "servicemonitors", Singular: "servicemonitor", Kind: serviceMonitors.Kind, ListKind: "ServiceMonitorList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: serviceMonitors.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: new(true),
				}},
			}},
		},
	}
}

func (r *release) serviceMonitors(ctx context.Context) (int, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(serviceMonitors)
	err := kube.List(ctx, list, client.InNamespace(r.namespace))
	return len(list.Items), err
}

func TestAServiceMonitorIsThereWhereTheClusterKnowsThem(t *testing.T) {
	t.Parallel()
	r := install(t, "metrics.serviceMonitor.enabled=true")
	if _, err := r.serviceMonitors(t.Context()); !meta.IsNoMatchError(err) {
		t.Fatalf("the cluster knows ServiceMonitors, so it cannot be seen what happens without: %v", err)
	}
	out, err := r.try(t.Context(), "--set=metrics.serviceMonitor.renderMode=failIfMissing")
	if err == nil || !strings.Contains(out, "monitoring.coreos.com") {
		t.Errorf("failIfMissing: %v\n%s", err, out)
	}
	crd := serviceMonitorCRD()
	must(t, kube.Create(t.Context(), crd))
	t.Cleanup(func() { must(t, kube.Delete(context.WithoutCancel(t.Context()), crd)) })
	waitFor(t, func(ctx context.Context) string {
		if _, err := r.serviceMonitors(ctx); err != nil {
			return err.Error()
		}
		return ""
	})
	r.upgrade("metrics.serviceMonitor.renderMode=failIfMissing")
	if found, err := r.serviceMonitors(t.Context()); err != nil || found != 1 {
		t.Errorf("%d ServiceMonitors, want one; %v", found, err)
	}
	if content := r.metrics(); !strings.Contains(content, "vmoperator_providerconfig_ready") {
		t.Errorf("the metrics' Service leads to:\n%s", content)
	}
}

// metrics are the operator's, as the Service shows them.
func (r *release) metrics() string {
	r.t.Helper()
	content, err := clientset.CoreV1().Services(r.namespace).
		ProxyGet("http", r.name+"-vmoperator-metrics", "8082", "/metrics", nil).DoRaw(r.t.Context())
	must(r.t, err)
	return string(content)
}
