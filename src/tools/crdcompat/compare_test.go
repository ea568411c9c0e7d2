package main

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// base is changed by each case of the tables.
const base = `
metadata: {name: pairs.example.org}
spec:
  scope: Namespaced
  names: {kind: Pair}
  versions:
    - name: v1
      served: true
      subresources: {status: {}, scale: {}}
      selectableFields: [{jsonPath: .spec.name}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [name]
              properties:
                name: {type: string, minLength: 1, maxLength: 10, pattern: "^a", default: a}
                kind: {type: string, enum: [One, Two]}
                count: {type: integer, format: int32, minimum: 1, maximum: 9, nullable: true}
                ports: {type: array, minItems: 1, maxItems: 3, x-kubernetes-list-type: set, items: {type: integer}}
                labels: {type: object, additionalProperties: {type: string, maxLength: 5}}
                free: {type: object, x-kubernetes-preserve-unknown-fields: true}
                port: {x-kubernetes-int-or-string: true}
    - name: v1alpha1
      served: false
`

// change is a textual edit of base, and what is found.
type change struct {
	name      string
	from, to  string
	wantFound string
}

func TestABreachIsToldInOneLine(t *testing.T) {
	for _, test := range []change{
		{"a field that is gone", "kind: {type: string, enum: [One, Two]}", "", "pairs.example.org v1: spec.kind: the field was removed"},
		{"another type", "count: {type: integer, format: int32, minimum: 1", "count: {type: string, minimum: 1", "pairs.example.org v1: spec.count: the type was changed from integer to string"},
		{"another type of a list's items", "items: {type: integer}", "items: {type: string}", "pairs.example.org v1: spec.ports[]: the type was changed from integer to string"},
		{"a type that was two", "x-kubernetes-int-or-string: true", "type: integer", "pairs.example.org v1: spec.port: the type was changed from integer or string to integer"},
		{"a field that was optional", "required: [name]", "required: [name, kind]", "pairs.example.org v1: spec.kind: the field is required now"},
		{"a new field that is required", "required: [name]", "required: [name, fresh]", "pairs.example.org v1: spec.fresh: the field is required now"},
		{"a minimum that is higher", "minimum: 1", "minimum: 2", "pairs.example.org v1: spec.count: minimum was raised from 1 to 2"},
		{"a minimum that excludes itself", "minimum: 1", "minimum: 1, exclusiveMinimum: true", "pairs.example.org v1: spec.count: the minimum itself is no longer accepted"},
		{"a maximum that is lower", "maximum: 9", "maximum: 8", "pairs.example.org v1: spec.count: maximum was lowered from 9 to 8"},
		{"a maximum that excludes itself", "maximum: 9", "maximum: 9, exclusiveMaximum: true", "pairs.example.org v1: spec.count: the maximum itself is no longer accepted"},
		{"a step where there was none", "maximum: 9", "maximum: 9, multipleOf: 3", "pairs.example.org v1: spec.count: values must be multiples of 3 now"},
		{"a narrower format", "format: int32", "format: byte", "pairs.example.org v1: spec.count: the format was changed from int32 to byte"},
		{"null refused", "nullable: true", "nullable: false", "pairs.example.org v1: spec.count: null is no longer accepted"},
		{"a longer minimal length", "minLength: 1", "minLength: 2", "pairs.example.org v1: spec.name: minLength was raised from 1 to 2"},
		{"a shorter maximal length", "maxLength: 10", "maxLength: 9", "pairs.example.org v1: spec.name: maxLength was lowered from 10 to 9"},
		{"a bound where there was none", "enum: [One, Two]", "enum: [One, Two], maxLength: 3", "pairs.example.org v1: spec.kind: maxLength 3 was added"},
		{"a bound on a map's values", "maxLength: 5", "maxLength: 4", "pairs.example.org v1: spec.labels.*: maxLength was lowered from 5 to 4"},
		{"more items needed", "minItems: 1", "minItems: 2", "pairs.example.org v1: spec.ports: minItems was raised from 1 to 2"},
		{"fewer items allowed", "maxItems: 3", "maxItems: 2", "pairs.example.org v1: spec.ports: maxItems was lowered from 3 to 2"},
		{"items that must differ", "maxItems: 3", "maxItems: 3, uniqueItems: true", "pairs.example.org v1: spec.ports: items must be unique now"},
		{"another merge of a list", "list-type: set", "list-type: atomic", "pairs.example.org v1: spec.ports: the list type was changed from set to atomic"},
		{"another pattern", `pattern: "^a"`, `pattern: "^b"`, "pairs.example.org v1: spec.name: the pattern was changed from ^a to ^b"},
		{"an enum value that is gone", "enum: [One, Two]", "enum: [One]", `pairs.example.org v1: spec.kind: the value "Two" was removed`},
		{"an enum where there was none", `pattern: "^a"`, `pattern: "^a", enum: [a]`, `pairs.example.org v1: spec.name: only "a" are accepted now`},
		{"a combination of schemas", `pattern: "^a"`, `pattern: "^a", not: {maxLength: 3}`, "pairs.example.org v1: spec.name: allOf, anyOf, oneOf or not was added or changed"},
		{"a map whose keys are gone", "additionalProperties: {type: string, maxLength: 5}", "properties: {}", "pairs.example.org v1: spec.labels: free keys are no longer kept"},
		{"fields that were kept without a schema", "preserve-unknown-fields: true", "preserve-unknown-fields: false", "pairs.example.org v1: spec.free: unknown fields are no longer kept"},
		{"a version that is not served", "served: true", "served: false", "pairs.example.org: version v1 is no longer served"},
		{"a version that is gone", "name: v1\n", "name: v2\n", "pairs.example.org: version v1 is no longer served"},
		{"no status subresource", "{status: {}, scale: {}}", "{scale: {}}", "pairs.example.org v1: the status subresource was removed"},
		{"no scale subresource", "{status: {}, scale: {}}", "{status: {}}", "pairs.example.org v1: the scale subresource was removed"},
		{"a field that selected", "{jsonPath: .spec.name}", "", "pairs.example.org v1: .spec.name can no longer be selected by"},
		{"another scope", "scope: Namespaced", "scope: Cluster", "pairs.example.org: the scope was changed from Namespaced to Cluster"},
		{"another kind", "names: {kind: Pair}", "names: {kind: Two}", "pairs.example.org: the kind was changed from Pair to Two"},
		{"a CRD that is gone", "name: pairs.example.org", "name: twins.example.org", "pairs.example.org: the CRD was removed"},
	} {
		t.Run(test.name, func(t *testing.T) { test.check(t) })
	}
}

func TestWhatNeedsJudgementIsAWarning(t *testing.T) {
	for _, test := range []change{
		{"a new rule", "maximum: 9", "maximum: 9, x-kubernetes-validations: [{rule: self != 5}]", "warning: pairs.example.org v1: spec.count: the rule self != 5 is new: make sure that no object can break it"},
		{"another default", "default: a", "default: ab", `warning: pairs.example.org v1: spec.name: the default was changed from "a" to "ab"`},
		{"no default", ", default: a", "", `warning: pairs.example.org v1: spec.name: the default was changed from "a" to none`},
	} {
		t.Run(test.name, func(t *testing.T) { test.check(t) })
	}
}

func TestWhatWidensIsFine(t *testing.T) {
	for _, test := range []change{
		{name: "nothing changed"},
		{name: "a new optional field", from: "kind: {", to: "fresh: {type: string}\n                kind: {"},
		{name: "a new required field with a default", from: "required: [name]\n              properties:", to: "required: [name, fresh]\n              properties:\n                fresh: {type: string, default: x}"},
		{name: "a required field that is optional now", from: "required: [name]", to: "required: []"},
		{name: "a lower minimum", from: "minimum: 1", to: "minimum: 0"},
		{name: "a higher maximum", from: "maximum: 9", to: "maximum: 10"},
		{name: "no bound", from: "minLength: 1, ", to: ""},
		{name: "no pattern", from: `, pattern: "^a"`, to: ""},
		{name: "a wider format", from: "format: int32", to: "format: int64"},
		{name: "one more enum value", from: "enum: [One, Two]", to: "enum: [One, Two, Three]"},
		{name: "any value instead of an enum", from: ", enum: [One, Two]", to: ""},
		{name: "a version that nobody was served is gone", from: "\n    - name: v1alpha1\n      served: false", to: ""},
	} {
		t.Run(test.name, func(t *testing.T) { test.check(t) })
	}
}

func (c change) check(t *testing.T) {
	t.Helper()
	if !strings.Contains(base, c.from) {
		t.Fatalf("base has no %q", c.from)
	}
	findings := Compare(crds(t, base), crds(t, strings.Replace(base, c.from, c.to, 1)))
	found := make([]string, len(findings))
	for i, finding := range findings {
		found[i] = finding.String()
	}
	if got := strings.Join(found, "\n"); got != c.wantFound {
		t.Errorf("got  %q\nwant %q", got, c.wantFound)
	}
}

func crds(t *testing.T, text string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return []*apiextensionsv1.CustomResourceDefinition{crd}
}
