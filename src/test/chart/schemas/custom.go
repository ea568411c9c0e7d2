package main

import (
	"fmt"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// custom reads the schemas of a CRD's versions.
func custom(path string) ([]schema, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a CRD: %w", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(raw, &crd); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	schemas := make([]schema, 0, len(crd.Spec.Versions))
	for _, version := range crd.Spec.Versions {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(version.Schema.OpenAPIV3Schema)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		strict(content)
		visit(content, eitherType)
		schemas = append(schemas, schema{
			group: crd.Spec.Group, version: version.Name, kind: crd.Spec.Names.Kind, content: content,
		})
	}
	return schemas, nil
}

// eitherType says in words of JSON Schema that a field takes a number or a text.
func eitherType(node map[string]any) {
	if node["x-kubernetes-int-or-string"] == true {
		node["type"] = []any{"integer", "string"}
	}
}
