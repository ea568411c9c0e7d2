package generated

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/crdschema"
)

// kind is one of ours, as the apiserver serves it.
type kind struct {
	name, plural string
	schema       func() *crdschema.Schema
	// minimal is a valid object in which every list has a member, and every object
	// its required fields.
	minimal func() document
	// typed returns an empty object.
	typed func() client.Object
}

var virtualMachine = kind{
	name: "VirtualMachine", plural: "virtualmachines",
	schema: func() *crdschema.Schema { return machines },
	typed:  func() client.Object { return &computev1.VirtualMachine{} },
	minimal: func() document {
		return document{"spec": map[string]any{
			"image": "ubuntu-24.04", "cpu": 2, "memory": "4Gi",
			"service": map[string]any{"ports": []any{map[string]any{"name": "ssh", "port": 22}}},
		}}
	},
}

var providerConfig = kind{
	name: "ProviderConfig", plural: "providerconfigs",
	schema: func() *crdschema.Schema { return configs },
	typed:  func() client.Object { return &computev1.ProviderConfig{} },
	minimal: func() document {
		reference := map[string]any{"name": credentials}
		return document{"spec": map[string]any{
			"endpoint": "https://vms.example.com", "secretRef": reference,
			"tls": map[string]any{"caSecretRef": reference}, "rateLimit": map[string]any{"qps": 10},
		}}
	},
}

// credentials is a Secret with all that a ProviderConfig needs.
const credentials = "credentials"

// fields are all fields of the kind's spec.
func (k kind) fields() []field {
	return fieldsOf([]string{"spec"}, k.schema().Root.Properties["spec"], nil)
}

// encode makes a document a whole object of the kind.
func (k kind) encode(t *testing.T, d document, name string) []byte {
	t.Helper()
	whole := document{"apiVersion": computev1.GroupVersion.String(), "kind": k.name, "spec": d["spec"], "metadata": d["metadata"]}
	if d["spec"] == nil {
		delete(whole, "spec")
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(whole.with([]string{"metadata", "name"}, quoted))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// patch is a merge patch that sets one field, lists being replaced as a whole.
func (k kind) patch(t *testing.T, path []string, value json.RawMessage) []byte {
	t.Helper()
	if value == nil {
		value = json.RawMessage("null")
	}
	whole := document{}
	if slices.Contains(path, "0") {
		whole = k.minimal()
		delete(whole, "metadata")
	}
	body, err := json.Marshal(whole.with(path, value))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// wire speaks to the apiserver in bytes of our own.
func wire(t *testing.T) *rest.RESTClient {
	t.Helper()
	config := rest.CopyConfig(plane.Config)
	config.GroupVersion, config.APIPath = &computev1.GroupVersion, "/apis"
	config.WarningHandler = rest.NoWarnings{}
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	speaker, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return speaker
}

// create sends an object and returns the apiserver's error.
func (k kind) create(t *testing.T, to *rest.RESTClient, namespace string, body []byte) error {
	t.Helper()
	return to.Post().Namespace(namespace).Resource(k.plural).SetHeader("Content-Type", "application/json").Body(body).Do(t.Context()).Error()
}

// wantHelpful fails unless a refusal tells the user which field is wrong, and what
// it may be.
func wantHelpful(t *testing.T, refused error, body []byte, f *field, schema *crdschema.Schema) {
	t.Helper()
	said := refused.Error()
	byRule := slices.ContainsFunc(f.rules, func(r rule) bool { return strings.Contains(said, r.at) && strings.Contains(said, r.message) })
	for _, clumsy := range []string{"no such overload", "evaluation error", "rule error", "internal error", "panic"} {
		if strings.Contains(said, clumsy) {
			t.Errorf("the message tells of a rule that failed, not of the value: %.500s", said)
		}
	}
	switch {
	case apierrors.IsBadRequest(refused) && strings.Contains(said, "1e999"):
		// No decoder can read it, and it cannot know the field.
	case !apierrors.IsInvalid(refused):
		t.Errorf("refused as something else than invalid: %.500s", said)
	case !byRule && !strings.Contains(said, f.name()):
		t.Errorf("the message does not name %s: %.500s", f.name(), said)
	case !byRule && allowedBySchema(schema, body):
		t.Errorf("neither schema nor a rule's message says what is wrong: %.500s", said)
	}
}

// allowedBySchema reports whether an object breaks no bound of the schema; then a
// rule must have refused it.
func allowedBySchema(schema *crdschema.Schema, body []byte) bool {
	var object map[string]any
	return json.Unmarshal(body, &object) == nil && schema.Validate(object) == nil
}

func shortly(err error) string { return fmt.Sprintf("%.300v", err) }
