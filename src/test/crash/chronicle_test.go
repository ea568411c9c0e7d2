package crash

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

func deploymentOf(manager string, replicas int32, containers ...corev1.Container) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: shop, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: manager}}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: containers}},
		},
	}
}

func TestAChronicleTellsWhatADeploymentWasAndWhoMadeIt(t *testing.T) {
	var c Chronicle
	one := corev1.Container{Name: shop, Image: "shop:1"}
	proxy := corev1.Container{Name: "proxy", Image: "proxy:1"}
	c.See(deploymentOf(exampleappsv1.FieldOwner, 5, one))
	c.See(deploymentOf(exampleappsv1.FieldOwner, 5, one))
	c.See(deploymentOf(exampleappsv1.FieldOwner, 2, proxy, one))
	c.SeeGone()
	c.See(deploymentOf("kubectl", 3, one))
	want := []string{"5 shop:1", "2 shop:1+proxy:1", Gone, "3 shop:1"}
	if diff := cmp.Diff(want, c.Lines()); diff != "" {
		t.Error(diff)
	}
	if c.Births() != 1 {
		t.Errorf("%d births are the operator's, want 1", c.Births())
	}
	if !c.Leads(want) || !c.Leads(append(want, Gone)) || c.Leads(want[:3]) || c.Leads([]string{"5 shop:1", Gone, "3 shop:1", Gone}) {
		t.Error("it leads elsewhere")
	}
}

func TestAnEventIsUntrueThatTellsOfAChangeThatNeverWas(t *testing.T) {
	var c Chronicle
	for _, s := range []struct {
		replicas int32
		image    string
	}{{2, "shop:9"}, {5, "shop:9"}, {5, "shop:1"}} {
		c.See(deploymentOf("any", s.replicas, corev1.Container{Name: shop, Image: s.image}))
	}
	for note, want := range map[string]string{
		"replicas 2 -> 5, set by kubectl via scale":                                      "",
		"Deployment shop put back: image shop:9 -> shop:1, container proxy, set by edit": "",
		"Deployment shop updated: replicas 2 -> 5":                                       "",
		"replicas 5 -> 2, set by kubectl via scale":                                      "replicas 5 -> 2",
		"image shop:1 -> shop:9, as declared":                                            "image shop:1 -> shop:9",
		"all Pods are available":                                                         "",
	} {
		if got := c.Untrue(note); got != want {
			t.Errorf("%q: %q is untrue, want %q", note, got, want)
		}
	}
}
