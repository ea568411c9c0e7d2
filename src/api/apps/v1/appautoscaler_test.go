package v1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/test/schemarules"
)

const appAutoscalers = "appautoscalers.apps.example.io"

func minimalAppAutoscaler() *unstructured.Unstructured {
	return object("AppAutoscaler", map[string]any{"deploymentName": "order-service", "replicas": int64(5)})
}

func TestAppAutoscalerSchema(t *testing.T) {
	const (
		notName      = "deploymentName must be the name of a Deployment: lower case letters, digits, '-' and '.', for example order-service"
		moved        = "deploymentName is immutable: delete this AppAutoscaler and create another"
		notContainer = "containerName must be the name of a container: lower case letters, digits and '-', for example order-service"
		scaled       = "minReplicas, targetCPUUtilization, targetMemoryUtilization and behavior need maxReplicas"
		crossed      = "minReplicas may not exceed maxReplicas"
		none         = "replicas must be at least 1 with maxReplicas: a HorizontalPodAutoscaler leaves a Deployment alone that has none"
		white        = "image may not hold white space, for example registry.example.com/order-service:1.2.0"
	)
	// spec is a whole spec, for rules about more than one field.
	spec := func(pairs ...any) map[string]any {
		all := map[string]any{"deploymentName": "order-service", "replicas": int64(5)}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i].(string)] = pairs[i+1] //nolint:forcetypeassert // the names are below
		}
		return all
	}
	scaling := func(direction string, rules map[string]any) map[string]any {
		return spec("maxReplicas", int64(10), "behavior", map[string]any{direction: rules})
	}
	policy := func(direction, without string) map[string]any {
		policy := map[string]any{"type": "Pods", "value": int64(2), "periodSeconds": int64(60)}
		delete(policy, without)
		return scaling(direction, map[string]any{"policies": []any{policy}})
	}
	tolerance := func(direction, value string) map[string]any {
		return scaling(direction, map[string]any{"tolerance": value})
	}
	text := func(n int) string { return strings.Repeat("a", n) }
	try := schemarules.Try
	schemarules.Test(t, kube, appAutoscalers, minimalAppAutoscaler(), append(scheduleRules(), []schemarules.Rule{
		try("spec.deploymentName required", "order-service", schemarules.Absent{}, "spec.deploymentName: Required value"),
		try("spec.deploymentName required", "order-service", nil, "spec.deploymentName: Required value"),
		try("spec.deploymentName minLength", "a", "", "spec.deploymentName in body should be at least 1 chars long"),
		try("spec.deploymentName maxLength", text(253), text(254), "spec.deploymentName: Too long: may not be more than 253"),
		try("spec.deploymentName rule 1", "order-service.v2", "Order-Service", notName),
		try("spec.deploymentName rule 1", "7", "order_service", notName),
		try("spec.deploymentName rule 1", "a.b", "a..b", notName),
		try("spec.deploymentName rule 1", "a-b", "-a", notName),
		try("spec.deploymentName rule 1", "a", "a\nb", notName),
		try("spec.deploymentName rule 2", "order-service", "user-service", moved).After("order-service"),
		try("spec.containerName minLength", "a", "", "spec.containerName in body should be at least 1 chars long"),
		try("spec.containerName maxLength", text(63), text(64), "spec.containerName: Too long: may not be more than 63"),
		try("spec.containerName rule 1", "app-1", "App", notContainer),
		try("spec.containerName rule 1", "1", "a.b", notContainer),
		try("spec.replicas required", int64(1), schemarules.Absent{}, "spec.replicas: Required value"),
		try("spec.replicas required", int64(1), nil, "spec.replicas: Required value"),
		try("spec.replicas minimum", int64(0), int64(-1), "spec.replicas in body should be greater than or equal to 0"),
		try("spec.image minLength", "a", "", "spec.image in body should be at least 1 chars long"),
		try("spec.image maxLength", text(1024), text(1025), "spec.image: Too long: may not be more than 1024"),
		try("spec.image rule 1", "registry.example.com/order-service@sha256:0123", "order service", white),
		try("spec.image rule 1", "localhost:5000/a:1", "order-service:1\n", white),
		try("spec rule 1", spec("minReplicas", int64(2), "maxReplicas", int64(3)), spec("minReplicas", int64(2)), scaled).In("spec"),
		try("spec rule 1", spec("targetCPUUtilization", int64(70), "maxReplicas", int64(3)), spec("targetCPUUtilization", int64(70)), scaled).In("spec"),
		try("spec rule 1", spec("targetMemoryUtilization", int64(70), "maxReplicas", int64(3)), spec("targetMemoryUtilization", int64(70)), scaled).In("spec"),
		try("spec rule 1", scaling("scaleUp", nil), spec("behavior", map[string]any{}), scaled).In("spec"),
		try("spec rule 2", spec("minReplicas", int64(3), "maxReplicas", int64(3)), spec("minReplicas", int64(4), "maxReplicas", int64(3)), crossed).In("spec"),
		try("spec rule 3", spec("replicas", int64(1), "maxReplicas", int64(3)), spec("replicas", int64(0), "maxReplicas", int64(3)), none).In("spec"),
		try("spec.behavior.scaleUp.policies[].type required", policy("scaleUp", ""), policy("scaleUp", "type"), "spec.behavior.scaleUp.policies[0].type: Required value").In("spec"),
		try("spec.behavior.scaleUp.policies[].value required", policy("scaleUp", ""), policy("scaleUp", "value"), "spec.behavior.scaleUp.policies[0].value: Required value").In("spec"),
		try("spec.behavior.scaleUp.policies[].periodSeconds required", policy("scaleUp", ""), policy("scaleUp", "periodSeconds"), "spec.behavior.scaleUp.policies[0].periodSeconds: Required value").In("spec"),
		try("spec.behavior.scaleUp.tolerance pattern", tolerance("scaleUp", "0.05"), tolerance("scaleUp", "little"), "spec.behavior.scaleUp.tolerance").In("spec"),
		try("spec.behavior.scaleDown.policies[].type required", policy("scaleDown", ""), policy("scaleDown", "type"), "spec.behavior.scaleDown.policies[0].type: Required value").In("spec"),
		try("spec.behavior.scaleDown.policies[].value required", policy("scaleDown", ""), policy("scaleDown", "value"), "spec.behavior.scaleDown.policies[0].value: Required value").In("spec"),
		try("spec.behavior.scaleDown.policies[].periodSeconds required", policy("scaleDown", ""), policy("scaleDown", "periodSeconds"), "spec.behavior.scaleDown.policies[0].periodSeconds: Required value").In("spec"),
		try("spec.behavior.scaleDown.tolerance pattern", tolerance("scaleDown", "0.05"), tolerance("scaleDown", "little"), "spec.behavior.scaleDown.tolerance").In("spec"),
		try("spec.minReplicas minimum", spec("maxReplicas", int64(3), "minReplicas", int64(1)), spec("maxReplicas", int64(3), "minReplicas", int64(0)), "spec.minReplicas in body should be greater than or equal to 1").In("spec"),
		try("spec.maxReplicas minimum", spec("maxReplicas", int64(1)), spec("maxReplicas", int64(0)), "spec.maxReplicas in body should be greater than or equal to 1").In("spec"),
		try("spec.targetCPUUtilization minimum", spec("maxReplicas", int64(3), "targetCPUUtilization", int64(1)), spec("maxReplicas", int64(3), "targetCPUUtilization", int64(0)), "spec.targetCPUUtilization in body should be greater than or equal to 1").In("spec"),
		try("spec.targetMemoryUtilization minimum", spec("maxReplicas", int64(3), "targetMemoryUtilization", int64(1)), spec("maxReplicas", int64(3), "targetMemoryUtilization", int64(0)), "spec.targetMemoryUtilization in body should be greater than or equal to 1").In("spec"),
		try("status.state enum", "Autoscaling", "Lost", `status.state: Unsupported value: "Lost"`),
		try("status.selector maxLength", text(4096), text(4097), "status.selector: Too long: may not be more than 4096"),
	}...))
}

// A tool that waits for observedGeneration to reach the generation must not take
// an object for done that the operator has not seen.
func TestAnUnseenAppAutoscalerShowsObservedGenerationMinusOneAndNoReplicas(t *testing.T) {
	stored := schemarules.Create(t, kube, minimalAppAutoscaler())
	if diff := cmp.Diff(map[string]any{"observedGeneration": int64(-1), "replicas": int64(0)}, stored.Object["status"]); diff != "" {
		t.Error(diff)
	}
}

func TestAnAppAutoscalerWithoutSpecIsRefused(t *testing.T) {
	empty := minimalAppAutoscaler()
	unstructured.RemoveNestedField(empty.Object, "spec")
	schemarules.WantRefusal(t, kube.Create(t.Context(), empty), "spec: Required value")
}

func TestTheScaleOfAnAppAutoscalerIsItsReplicas(t *testing.T) {
	stored := schemarules.Create(t, kube, minimalAppAutoscaler())
	seen := stored.DeepCopy()
	seen.Object["status"] = map[string]any{"replicas": int64(3), "selector": "app=order-service", "observedGeneration": int64(1)}
	if err := kube.Status().Update(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	scaled, scale := &exampleappsv1.AppAutoscaler{}, &autoscalingv1.Scale{}
	scaled.Namespace, scaled.Name = stored.GetNamespace(), stored.GetName()
	if err := kube.SubResource("scale").Get(t.Context(), scaled, scale); err != nil {
		t.Fatal(err)
	}
	if scale.Spec.Replicas != 5 || scale.Status.Replicas != 3 || scale.Status.Selector != "app=order-service" {
		t.Errorf("the scale is %+v", scale)
	}

	scale.Spec.Replicas = 0
	if err := kube.SubResource("scale").Update(t.Context(), scaled, client.WithSubResourceBody(scale)); err != nil {
		t.Fatal(err)
	}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(stored), scaled); err != nil {
		t.Fatal(err)
	}
	if got := *scaled.Spec.Replicas; got != 0 {
		t.Errorf("replicas are %d, want 0", got)
	}
}

func TestTheShortNameAndTheColumnsOfAnAppAutoscaler(t *testing.T) {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := discoverer.ServerResourcesForGroupVersion(exampleappsv1.GroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, resource := range resources.APIResources {
		if strings.HasPrefix(resource.Name, "appautoscalers") {
			got[resource.Name] = fmt.Sprint(resource.ShortNames, resource.Categories)
		}
	}
	want := map[string]string{
		"appautoscalers": "[aas] [vmoperator]", "appautoscalers/status": "[] []", "appautoscalers/scale": "[] []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	var definition apiextensionsv1.CustomResourceDefinition
	if err := kube.Get(t.Context(), client.ObjectKey{Name: appAutoscalers}, &definition); err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, column := range definition.Spec.Versions[0].AdditionalPrinterColumns {
		columns = append(columns, column.Name)
	}
	if want := "[Deployment Desired Replicas State Ready Age Synced Min Max Schedule Image Reason]"; fmt.Sprint(columns) != want {
		t.Errorf("the columns are %v, want %s", columns, want)
	}
}
