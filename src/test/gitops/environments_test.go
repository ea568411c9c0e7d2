package gitops

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// text is a field of an object.
func text(t *testing.T, object unstructured.Unstructured, fields ...string) string {
	t.Helper()
	value, found, err := unstructured.NestedString(object.Object, fields...)
	if err != nil || !found {
		t.Fatalf("%s %s has no %v: %v", object.GetKind(), object.GetName(), fields, err)
	}
	return value
}

func TestTheProviderOfDevIsTheMockProviderThatIsDelivered(t *testing.T) {
	all := delivered(t, "dev")
	service := named(t, all, "Service", "vmoperator-mock-provider")
	config := named(t, all, "ProviderConfig", "default")
	if want, got := "http://"+service.GetName()+"."+service.GetNamespace()+".svc:8080", text(t, config, "spec", "endpoint"); got != want {
		t.Errorf("the endpoint is %s, not %s", got, want)
	}
	secret := named(t, all, "Secret", text(t, config, "spec", "secretRef", "name"))
	if want, got := text(t, named(t, all, "Secret", service.GetName()+"-api-key"), "stringData", "apiKey"), text(t, secret, "stringData", "apiKey"); got != want {
		t.Errorf("the key is %q, not %q", got, want)
	}
}

// A ProviderConfig that the operator makes would be in no Application, and stay when all
// else goes.
func TestTheOperatorMakesNoProviderConfigOfItsOwn(t *testing.T) {
	for _, environment := range environments(t) {
		operator := named(t, delivered(t, environment), "Deployment", "vmoperator-controller-manager")
		containers, _, err := unstructured.NestedSlice(operator.Object, "spec", "template", "spec", "containers")
		if err != nil {
			t.Fatal(err)
		}
		args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		if err != nil || len(args) == 0 {
			t.Fatalf("args %v, error %v", args, err)
		}
		for _, arg := range args {
			if strings.HasPrefix(arg, "--default-provider-endpoint") {
				t.Errorf("%s: %s", environment, arg)
			}
		}
	}
}

func TestNoKeyIsInGitButThatOfTheMockProvider(t *testing.T) {
	for _, environment := range environments(t) {
		for _, object := range inFolder(t, filepath.Join(root, "gitops", "environments", environment, "objects")) {
			if object.GetKind() == "Secret" && object.GetName() != "mock-provider" {
				t.Errorf("%s: Secret %s", environment, object.GetName())
			}
		}
	}
}

func TestTheOperatorWorksOnTheNamespacesThatAreDeliveredTo(t *testing.T) {
	for _, object := range asArgoCD(t, named(t, brought(t, "--set=namespaces={vms,team}"), "Application", "vmoperator")) {
		if object.GetKind() != "Deployment" || object.GetName() != "vmoperator-controller-manager" {
			continue
		}
		containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if err != nil {
			t.Fatal(err)
		}
		args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(args, " "); !strings.Contains(all, "--watch-namespaces=team,vms") {
			t.Errorf("the operator is started with %s", all)
		}
	}
}
