package schemarules

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Test tries each rule on a minimal object, and fails when the schema of the CRD
// has a rule that is not among them: a rule nobody tried may be one that refuses
// what it should take.
func Test(t *testing.T, kube client.Client, crd string, minimal *unstructured.Unstructured, rules []Rule) {
	t.Helper()
	tried := map[string]bool{}
	for _, r := range rules {
		tried[r.schema] = true
		t.Run(r.schema+" refuses "+brief(r.refused), func(t *testing.T) { r.check(t, kube, minimal) })
	}
	t.Run("every rule of the schema is tried", func(t *testing.T) {
		if diff := cmp.Diff(rulesOf(t, kube, crd), slices.Sorted(maps.Keys(tried))); diff != "" {
			t.Errorf("rules of the schema (-) and rules with a test (+):\n%s", diff)
		}
	})
}

// rulesOf names every rule and bound of a CRD's spec and status.
func rulesOf(t *testing.T, kube client.Client, crd string) []string {
	t.Helper()
	var definition apiextensionsv1.CustomResourceDefinition
	if err := kube.Get(t.Context(), client.ObjectKey{Name: crd}, &definition); err != nil {
		t.Fatal(err)
	}
	root := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	rules := slices.Concat(walk("spec", root.Properties["spec"]), walk("status", root.Properties["status"]))
	slices.Sort(rules)
	return rules
}

func walk(path string, schema apiextensionsv1.JSONSchemaProps) []string {
	stated := keywords(schema)
	rules := make([]string, 0, len(stated)+len(schema.Required))
	for _, keyword := range stated {
		rules = append(rules, path+" "+keyword)
	}
	for _, name := range schema.Required {
		rules = append(rules, path+"."+name+" required")
	}
	for name, property := range schema.Properties {
		// Conditions are apimachinery's, and so are the tests of their bounds.
		if path == "status" && name == "conditions" {
			continue
		}
		rules = append(rules, walk(path+"."+name, property)...)
	}
	if schema.Items != nil {
		rules = append(rules, walk(path+"[]", *schema.Items.Schema)...)
	}
	return rules
}

// keywords names the rules that a schema itself states.
func keywords(schema apiextensionsv1.JSONSchemaProps) []string {
	var names []string
	for name, stated := range map[string]bool{
		"minLength": schema.MinLength != nil,
		"maxLength": schema.MaxLength != nil,
		"minimum":   schema.Minimum != nil,
		"maximum":   schema.Maximum != nil,
		"minItems":  schema.MinItems != nil,
		"maxItems":  schema.MaxItems != nil,
		"pattern":   schema.Pattern != "",
		"enum":      len(schema.Enum) > 0,
		// The members of a set and the keys of a map are unique.
		"unique": schema.XListType != nil && *schema.XListType != "atomic",
	} {
		if stated {
			names = append(names, name)
		}
	}
	for i := range schema.XValidations {
		names = append(names, fmt.Sprintf("rule %d", i+1))
	}
	return names
}
