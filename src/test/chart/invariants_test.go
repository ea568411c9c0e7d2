package chart

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ofCluster are the kinds that are in no namespace.
var ofCluster = []string{"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"}

// everyLabel are the labels that every object has.
var everyLabel = []string{
	"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/part-of",
	"app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart",
}

// ours leaves out what extraObjects gave.
func ours(objects []unstructured.Unstructured) []unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(object unstructured.Unstructured) bool {
		return strings.HasSuffix(object.GetName(), "-extra")
	})
}

func TestEveryObjectHasAllLabels(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			for _, object := range ours(v.objects) {
				for _, label := range everyLabel {
					value, there := object.GetLabels()[label]
					if problems := validation.IsValidLabelValue(value); !there || len(problems) > 0 {
						t.Errorf("%s %s: label %s is %q: %v", object.GetKind(), object.GetName(), label, value, problems)
					}
				}
			}
		})
	}
}

func TestEveryObjectOfANamespaceSaysWhichOne(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			for _, object := range v.objects {
				if slices.Contains(ofCluster, object.GetKind()) == (object.GetNamespace() != "") {
					t.Errorf("%s %s is in the namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
				}
			}
		})
	}
}

func TestNamesAreSuchThatKubernetesTakesThem(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			for _, object := range v.objects {
				check := validation.IsDNS1123Subdomain
				switch object.GetKind() {
				case "Service":
					check = validation.IsDNS1035Label
				// Its pods' names and labels are made of it.
				case "Deployment":
					check = validation.IsDNS1123Label
				}
				if problems := check(object.GetName()); len(problems) > 0 {
					t.Errorf("%s %q: %v", object.GetKind(), object.GetName(), problems)
				}
			}
		})
	}
}

func TestNoObjectIsThereTwice(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, object := range v.objects {
				key := strings.Join([]string{object.GetKind(), object.GetNamespace(), object.GetName()}, " ")
				if seen[key] {
					t.Errorf("%s is there twice", key)
				}
				seen[key] = true
			}
		})
	}
}

// selectors are what the objects of a release select pods by.
func selectors(t *testing.T, objects []unstructured.Unstructured) []map[string]string {
	t.Helper()
	var found []map[string]string
	for _, deployment := range ofKind[appsv1.Deployment](t, objects, "Deployment") {
		found = append(found, deployment.Spec.Selector.MatchLabels)
		for _, constraint := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
			found = append(found, constraint.LabelSelector.MatchLabels)
		}
	}
	for _, service := range ofKind[corev1.Service](t, objects, "Service") {
		found = append(found, service.Spec.Selector)
	}
	for _, budget := range ofKind[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget") {
		found = append(found, budget.Spec.Selector.MatchLabels)
	}
	return found
}

func TestSelectorsNameTheirPodsAndNothingThatAnUpdateChanges(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			pods := ofKind[appsv1.Deployment](t, v.objects, "Deployment")
			for _, selector := range selectors(t, v.objects) {
				for label := range selector {
					if label == "helm.sh/chart" || strings.HasSuffix(label, "/version") {
						t.Errorf("a selector has the label %s", label)
					}
				}
				selected := slices.DeleteFunc(slices.Clone(pods), func(pod appsv1.Deployment) bool {
					return !isSubset(selector, pod.Spec.Template.Labels)
				})
				if len(selected) != 1 {
					t.Errorf("the selector %v selects the pods of %d Deployments", selector, len(selected))
				}
			}
		})
	}
}

func isSubset(part, whole map[string]string) bool {
	for key, value := range part {
		if whole[key] != value {
			return false
		}
	}
	return true
}

func TestASecretIsRenderedOnlyWhereAKeyIsGiven(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			secrets := ofKind[corev1.Secret](t, v.objects, "Secret")
			if want := strings.HasPrefix(v.name, "everything"); (len(secrets) > 0) != want {
				t.Errorf("%d Secrets are rendered", len(secrets))
			}
		})
	}
}
