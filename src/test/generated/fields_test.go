package generated

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// field is one place in an object.
type field struct {
	// path leads to it; a number is the index in a list.
	path   []string
	schema apiextensionsv1.JSONSchemaProps
	// rules are the messages of the CEL rules about it, those of the places around
	// it included.
	rules []rule
}

// rule is a CEL rule's message, and the name of the place that it is about.
type rule struct{ at, message string }

// name is the field as the apiserver's messages spell it: spec.service.ports[0].name.
func (f *field) name() string {
	var name strings.Builder
	for _, step := range f.path {
		switch _, err := strconv.Atoi(step); {
		case err == nil:
			name.WriteString("[" + step + "]")
		case name.Len() > 0:
			name.WriteString("." + step)
		default:
			name.WriteString(step)
		}
	}
	return name.String()
}

// fieldsOf are all places in a schema, the schema's own included.
func fieldsOf(path []string, schema apiextensionsv1.JSONSchemaProps, rules []rule) []field {
	here := field{path: path, schema: schema, rules: slices.Clone(rules)}
	for _, each := range schema.XValidations {
		here.rules = append(here.rules, rule{here.name(), each.Message})
	}
	fields := []field{here}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		fields = append(fields, fieldsOf(below(path, name), schema.Properties[name], here.rules)...)
	}
	if schema.Items != nil {
		fields = append(fields, fieldsOf(below(path, "0"), *schema.Items.Schema, here.rules)...)
	}
	return fields
}

func below(path []string, step string) []string { return append(slices.Clone(path), step) }

// document is an object as JSON, in which a value may be any JSON text: a number
// has forms that no Go type tells apart.
type document map[string]any

// with is a copy of the document with a value at a path, or, if it is nil, without
// what is there.
func (d document) with(path []string, value json.RawMessage) document {
	changed, _ := place(map[string]any(d), path, value).(map[string]any)
	return changed
}

func place(parent any, path []string, value json.RawMessage) any {
	if len(path) == 0 {
		return value
	}
	if list, isList := parent.([]any); isList {
		index, err := strconv.Atoi(path[0])
		if err != nil {
			panic(err) // the path is not of this document
		}
		list = slices.Clone(list)
		list[index] = place(list[index], path[1:], value)
		return list
	}
	object, _ := parent.(map[string]any)
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	if len(path) == 1 && value == nil {
		delete(object, path[0])
		return object
	}
	object[path[0]] = place(object[path[0]], path[1:], value)
	return object
}
