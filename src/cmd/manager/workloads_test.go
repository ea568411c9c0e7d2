package main

import (
	"context"
	"net/http"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/test/operator"
)

func TestTheLabellerWorksWithTheRightsThatTheChartGivesIt(t *testing.T) {
	place := namespace(t)
	config, err := plane.AddUser("labeller")
	if err != nil {
		t.Fatal(err)
	}
	grantRules(t, "labeller", place, slices.Concat(generatedRules(t), readRole(t, "rules/labeller.yaml").Rules))
	web := anyDeployment(place)
	create(t, web)
	o := startOperator(t, config, "--watch-namespaces="+place, "--leader-election-namespace="+place,
		"--controllers=providerconfig,virtualmachine,labeller", "--labeller-key=example.com/kept-by", "--labeller-value=us", "--labeller-selector=tier=web")
	o.WantProbe("/readyz", http.StatusOK)
	operator.WaitFor(t, "the label", func(ctx context.Context) bool {
		return kube.Get(ctx, client.ObjectKeyFromObject(web), web) == nil && web.Labels["example.com/kept-by"] == "us"
	})
}

func TestMyAppsWorkWithTheRightsThatTheChartGivesThem(t *testing.T) {
	place := namespace(t)
	config, err := plane.AddUser("myapp")
	if err != nil {
		t.Fatal(err)
	}
	grantRules(t, "myapp", place, slices.Concat(generatedRules(t), readRole(t, "rules/myapp.yaml").Rules))
	o := startOperator(t, config, "--watch-namespaces="+place, "--leader-election-namespace="+place, "--controllers=myapp")
	o.WantProbe("/readyz", http.StatusOK)
	app := &exampleappsv1.MyApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: "shop"},
		Spec:       exampleappsv1.MyAppSpec{Image: "shop:1", Ports: []exampleappsv1.MyAppPort{{Name: "http", Port: 80}}},
	}
	create(t, app)
	operator.WaitFor(t, "the MyApp to be synced", func(ctx context.Context) bool {
		return kube.Get(ctx, client.ObjectKeyFromObject(app), app) == nil &&
			meta.IsStatusConditionTrue(app.Status.Conditions, exampleappsv1.ConditionSynced)
	})
	if err := kube.Patch(t.Context(), app, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"ports":null,"image":"shop:2"}}`))); err != nil {
		t.Fatal(err)
	}
	operator.WaitFor(t, "the Service to go", func(ctx context.Context) bool {
		return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(app), &corev1.Service{}))
	})
}

func TestTheLabellerDoesNotRunUnlessItIsNamed(t *testing.T) {
	place := namespace(t)
	web := anyDeployment(place)
	create(t, web)
	// With the rights that it would need.
	o := startOperator(t, plane.Config, "--watch-namespaces="+place, "--leader-election-namespace="+place)
	o.WantLine("Starting workers", `"virtualmachine"`)
	if lines := o.Lines("Starting Controller", `"labeller"`); len(lines) > 0 {
		t.Errorf("it runs: %q", lines)
	}
}

func anyDeployment(namespace string) *appsv1.Deployment {
	labels := map[string]string{"tier": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}},
			},
		},
	}
}
