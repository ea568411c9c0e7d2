//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

func TestTheLabelIsKeptWhileTheLabellerIsOnAndLeftWhenItIsOff(t *testing.T) {
	t.Parallel()
	r := newRelease(t, "controllers.labeller.enabled=true")
	r.upgrade()
	r.kubectl("create", "deployment", "web", "--image="+noImage, "--replicas=0")
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: r.watched[0], Name: "web"}}
	waitFor(t, func(ctx context.Context) string {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(web), web); err != nil {
			return err.Error()
		}
		if !labelled(web) {
			return fmt.Sprintf("the labels are %v", web.Labels)
		}
		return ""
	})
	film := filmDeployment(t, r.watched[0], "web")
	film.damaged("label back", labelled, "label", "deployment/web", "managed-by-")
	film.damaged("label's value back", labelled, "label", "--overwrite", "deployment/web", "managed-by=somebody")
	r.tells(web, "LabelReplaced", `label managed-by was "somebody"`)

	r.upgrade("controllers.labeller.enabled=false")
	must(t, kube.Get(t.Context(), client.ObjectKeyFromObject(web), web))
	if !labelled(web) {
		t.Errorf("the labels are %v", web.Labels)
	}
	r.kubectl("label", "deployment/web", "managed-by-")
	// The operator has seen the Deployment when this is done.
	autoscaler := r.orders(func(a *exampleappsv1.AppAutoscaler) {
		a.Spec = exampleappsv1.AppAutoscalerSpec{DeploymentName: "web", Replicas: new(int32(0))}
	})
	r.shows(autoscaler, exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)
	must(t, kube.Get(t.Context(), client.ObjectKeyFromObject(web), web))
	if _, there := web.Labels["managed-by"]; there {
		t.Errorf("the labels are %v, although the labeller is off", web.Labels)
	}
}

func labelled(deployment *appsv1.Deployment) bool {
	return deployment.Labels["managed-by"] == "my-operator"
}
