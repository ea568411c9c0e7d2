//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

const (
	podsAreThere  = "MinimumReplicasAvailable"
	podsAreNot    = "MinimumReplicasUnavailable"
	rolloutGoesOn = "ReplicaSetUpdated"
	rolloutIsOver = "NewReplicaSetAvailable"
)

func TestAMyAppTellsABadImageFromAGoodOne(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	r.upgrade()
	app := r.shop(1, func(app *exampleappsv1.MyApp) { app.Spec.Image = noImage })
	r.shows(app, exampleappsv1.ConditionReady, metav1.ConditionFalse, "ImagePullBackOff")
	r.shows(app, exampleappsv1.ConditionAvailable, metav1.ConditionFalse, podsAreNot)
	r.shows(app, exampleappsv1.ConditionProgressing, metav1.ConditionTrue, rolloutGoesOn)
	r.tells(app, "ImagePullBackOff", noImage)
	r.shopColumns("False", "1", "1", "0", noImage)

	r.shopImage(mockImage + ":" + version)
	r.kubectl("wait", "--for=condition=Ready", "myapp/shop", "--timeout="+patience.String())
	r.shows(app, exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)
	r.shows(app, exampleappsv1.ConditionAvailable, metav1.ConditionTrue, podsAreThere)
	r.shows(app, exampleappsv1.ConditionProgressing, metav1.ConditionTrue, rolloutIsOver)
	r.shopPods(1)
	r.shopColumns("True", "1", "1", "1", mockImage+":"+version)

	// What ran before goes on while the new Pods cannot be started.
	r.shopImage(noImage)
	r.shows(app, exampleappsv1.ConditionReady, metav1.ConditionFalse, "ImagePullBackOff")
	r.shows(app, exampleappsv1.ConditionAvailable, metav1.ConditionTrue, podsAreThere)
	r.shopImage(mockImage + ":" + version)
	r.shows(app, exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)
}

func (r *release) shopImage(image string) {
	r.t.Helper()
	r.kubectl("patch", "myapp/shop", "--type=merge", `--patch={"spec":{"image":"`+image+`"}}`)
}

// shopColumns are what people see of the MyApp, but for its age.
func (r *release) shopColumns(columns ...string) {
	r.t.Helper()
	line := r.kubectl("get", "mya", "shop", "--no-headers")
	if got := strings.Fields(line); len(got) < 2 || !slices.Equal(got[1:len(got)-1], columns) {
		r.t.Errorf("kubectl get shows %q, want %q", line, columns)
	}
}

// The incident that the second handbook begins with. No node has so many CPUs.
func TestLimitsThatNoNodeHasAreToldOfWithWhoSetThemAndTakenFromAMyApp(t *testing.T) {
	t.Parallel()
	r := installForOrders(t)
	autoscaler := r.orders(func(a *exampleappsv1.AppAutoscaler) { a.Spec.Replicas = new(int32(1)) })
	app := r.shop(1)
	film := filmDeployment(t, r.watched[0], app.Name)
	r.shows(autoscaler, exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)
	r.shows(app, exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)

	r.kubectl("set", "resources", "deployment/"+orderService, "--limits=cpu=1000")
	message := r.shows(autoscaler, exampleappsv1.ConditionReady, metav1.ConditionFalse, corev1.PodReasonUnschedulable)
	if !strings.Contains(message, "Insufficient cpu") {
		t.Errorf("Ready says %q", message)
	}
	r.tells(autoscaler, "ResourcesSet", "container order-service has resources.limits, set by kubectl-set at ", corev1.PodReasonUnschedulable)
	r.shows(autoscaler, exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
	r.kubectl("set", "resources", "deployment/"+orderService, "--limits=cpu=0", "--requests=cpu=0")
	r.shows(autoscaler, exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)

	for _, kind := range []string{"limits", "requests"} {
		film.damaged(kind+" of a MyApp taken away", withoutResources, "set", "resources", "deployment/"+app.Name, "--"+kind+"=cpu=1000")
		r.tells(app, "PutBack", kind, "set by kubectl-set at ")
	}
	r.shows(app, exampleappsv1.ConditionReady, metav1.ConditionTrue, exampleappsv1.ReasonAvailable)
	r.shopPods(1)
}

func withoutResources(deployment *appsv1.Deployment) bool {
	resources := deployment.Spec.Template.Spec.Containers[0].Resources
	return len(resources.Limits)+len(resources.Requests) == 0
}
