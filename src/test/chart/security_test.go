package chart

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// templates are the pods that objects make.
func templates(t *testing.T, objects []unstructured.Unstructured) map[string]corev1.PodTemplateSpec {
	t.Helper()
	found := map[string]corev1.PodTemplateSpec{}
	for _, object := range objects {
		spec, isTemplate, err := unstructured.NestedMap(object.Object, "spec", "template")
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case object.GetKind() == "Pod":
			found["Pod "+object.GetName()] = templateOf(t, object.Object)
		case isTemplate:
			found[object.GetKind()+" "+object.GetName()] = templateOf(t, spec)
		}
	}
	if len(found) == 0 {
		t.Fatal("no pods are rendered")
	}
	return found
}

// templateOf decodes what has metadata and spec of a pod.
func templateOf(t *testing.T, content map[string]any) corev1.PodTemplateSpec {
	t.Helper()
	pods := ofKind[corev1.Pod](t, []unstructured.Unstructured{{Object: map[string]any{
		"kind": "Pod", "metadata": content["metadata"], "spec": content["spec"],
	}}}, "Pod")
	return corev1.PodTemplateSpec{ObjectMeta: pods[0].ObjectMeta, Spec: pods[0].Spec}
}

// TestEveryPodPassesTheRestrictedStandard asks the code that the API server asks.
func TestEveryPodPassesTheRestrictedStandard(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			for name, pod := range templates(t, v.objects) {
				for _, result := range evaluator.EvaluatePod(restricted, &metav1.ObjectMeta{}, &pod.Spec) {
					if !result.Allowed {
						t.Errorf("%s: %s: %s", name, result.ForbiddenReason, result.ForbiddenDetail)
					}
				}
			}
		})
	}
}

func TestEveryContainerHasAReadOnlyRootAndItsResources(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			for name, pod := range templates(t, v.objects) {
				for _, container := range pod.Spec.Containers {
					if context := container.SecurityContext; context == nil || context.ReadOnlyRootFilesystem == nil || !*context.ReadOnlyRootFilesystem {
						t.Errorf("%s: the root of %s can be written", name, container.Name)
					}
					if container.Resources.Requests.Cpu().IsZero() || container.Resources.Limits.Memory().IsZero() {
						t.Errorf("%s: %s requests no CPU, or has no limit of memory", name, container.Name)
					}
				}
			}
		})
	}
}

func TestOnlyTheOperatorGetsAToken(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			for _, deployment := range ofKind[appsv1.Deployment](t, v.objects, "Deployment") {
				mounts := deployment.Spec.Template.Spec.AutomountServiceAccountToken
				isManager := deployment.Labels["app.kubernetes.io/component"] == "controller-manager"
				if mounts == nil || *mounts != isManager {
					t.Errorf("Deployment %s: automountServiceAccountToken is %v", deployment.Name, mounts)
				}
			}
		})
	}
}
