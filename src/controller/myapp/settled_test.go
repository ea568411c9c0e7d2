package myapp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// policy is somebody's who has the last word: what it changes in each write, no write
// of ours can.
type policy struct {
	group, resource string
	// path and value are what it sets; the path is a JSON pointer, the value an
	// expression.
	path, value string
	// told is what the condition says of it.
	told string
	// rules reports whether an object bears its mark.
	rules func(client.Object) bool
}

var policies = map[string]policy{
	"a field of the container": {
		group: "apps", resource: "deployments", path: "/spec/template/spec/containers/0/terminationMessagePolicy", value: `"FallbackToLogsOnError"`,
		told: "terminationMessagePolicy of the container",
		rules: func(object client.Object) bool {
			deployment, is := object.(*appsv1.Deployment)
			return is && deployment.Spec.Template.Spec.Containers[0].TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
		},
	},
	"a label of the Deployment": {
		group: "apps", resource: "deployments", path: "/metadata/labels/apps.example.io~1my-app", value: `"other"`,
		told: "label apps.example.io/my-app",
		rules: func(object client.Object) bool {
			_, is := object.(*appsv1.Deployment)
			return is && object.GetLabels()[exampleappsv1.MyAppLabel] == "other"
		},
	},
	"a port of the Service": {
		resource: "services", path: "/spec/ports/0/targetPort", value: `9999`,
		told: "ports",
		rules: func(object client.Object) bool {
			service, is := object.(*corev1.Service)
			return is && service.Spec.Ports[0].TargetPort.IntValue() == 9999
		},
	},
	"the selector of the Service": {
		resource: "services", path: "/spec/selector/team", value: `"a"`,
		told: "selector",
		rules: func(object client.Object) bool {
			service, is := object.(*corev1.Service)
			return is && service.Spec.Selector["team"] == "a"
		},
	},
}

func TestAPolicyThatHasTheLastWordIsNotWrittenAgainst(t *testing.T) {
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.enforce(policy)
			w.settled(withPorts(80))
			if message := w.shows("Synced", metav1.ConditionTrue, "Synced").Message; !strings.HasSuffix(message, "changes what is written: "+policy.told) {
				t.Errorf("the condition says %q", message)
			}
			w.wantNoWrites()
			w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Image = image + "-next" })
			w.awaits("another image", func(d *appsv1.Deployment) bool { return d.Spec.Template.Spec.Containers[0].Image == image+"-next" })
			w.shows("Synced", metav1.ConditionTrue, "Synced")
			w.wantNoWrites()
			// Another process does not know, and finds out once.
			w.restart()
			w.looks()
			w.wantNoWrites()
		})
	}
}

// wantNoWrites lets the controller look a few times, and wants nothing written but
// the MyApp's status.
func (w *world) wantNoWrites() {
	w.t.Helper()
	before := len(w.ledger.Writes())
	for range 3 {
		w.looks()
	}
	var writes []string
	for _, write := range w.ledger.Writes()[before:] {
		if write != "patch *v1.MyApp status" {
			writes = append(writes, write)
		}
	}
	if diff := cmp.Diff([]string(nil), writes); diff != "" {
		w.t.Error(diff)
	}
}

// enforce puts a policy into force in the world's namespace.
func (w *world) enforce(p policy) {
	w.t.Helper()
	made := mutation(w.namespace, p)
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: made.ObjectMeta,
		Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{
			PolicyName: made.Name,
			MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace},
			}},
		},
	}
	for _, object := range []client.Object{made, binding} {
		w.must(w.client.Create(w.t.Context(), object))
		w.t.Cleanup(func() { w.must(w.client.Delete(context.WithoutCancel(w.t.Context()), object)) })
	}
	w.until("the policy to be in force", func(ctx context.Context) bool {
		for _, probe := range probes(w.namespace) {
			if err := w.client.Create(ctx, probe, client.DryRunAll); err == nil && p.rules(probe) {
				return true
			}
		}
		return false
	})
}

func mutation(name string, p policy) *admissionregistrationv1.MutatingAdmissionPolicy {
	return &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      new(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
						Rule: admissionregistrationv1.Rule{
							APIGroups: []string{p.group}, APIVersions: []string{"v1"}, Resources: []string{p.resource},
						},
					},
				}},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{
					Expression: strings.Join([]string{`[JSONPatch{op: "add", path: "`, p.path, `", value: `, p.value, `}]`}, ""),
				},
			}},
		},
	}
}

// probes are objects that a policy can show itself on.
func probes(namespace string) []client.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "probe", Labels: map[string]string{"app": "probe"}}
	return []client.Object{
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: meta.Labels, Ports: []corev1.ServicePort{{Port: 80}}}},
		&appsv1.Deployment{
			ObjectMeta: meta,
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: meta.Labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
				},
			},
		},
	}
}
