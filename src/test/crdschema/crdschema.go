// Package crdschema holds the schemas of the CRDs in memory: to make objects from
// them, and to try objects against them, more than an apiserver could be asked
// about.
package crdschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Names of the kinds' files.
const (
	VirtualMachines = "compute.example.com_virtualmachines.yaml"
	ProviderConfigs = "compute.example.com_providerconfigs.yaml"
)

// Schema is that of the served version of one kind.
type Schema struct {
	// Root is the schema of the whole object.
	Root apiextensionsv1.JSONSchemaProps

	validator  validation.SchemaValidator
	structural *structuralschema.Structural
}

// Load reads a file of charts/vmoperator/files/crds.
func Load(file string) (*Schema, error) {
	_, here, _, _ := goruntime.Caller(0)
	path := filepath.Join(filepath.Dir(here), "..", "..", "..", "charts", "vmoperator", "files", "crds", file)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a CRD: %w", err)
	}
	return Read(file, text)
}

// Read reads a CRD, which errors call by the name that is given.
func Read(file string, text []byte) (*Schema, error) {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &definition); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	schema := &Schema{Root: *definition.Spec.Versions[0].Schema.OpenAPIV3Schema}
	var internal apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&schema.Root, &internal, nil)
	if err != nil {
		return nil, fmt.Errorf("converting %s: %w", file, err)
	}
	if schema.validator, _, err = validation.NewSchemaValidator(&internal); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", file, err)
	}
	if schema.structural, err = structuralschema.NewStructural(&internal); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", file, err)
	}
	return schema, nil
}

// Validate returns what the apiserver would say of an object: types, bounds,
// patterns, enums, and members of lists that must be unique; not the CEL rules.
// The error names each field.
func (s *Schema) Validate(object any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encoding the object: %w", err)
	}
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("decoding the object: %w", err)
	}
	problems := validation.ValidateCustomResource(nil, value, s.validator)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, s.structural, value)...)
	return errors.Join(errorsOf(problems)...)
}

// Unknown are the fields of an object that its kind does not have: the apiserver
// drops them.
func (s *Schema) Unknown(object map[string]any) []string {
	return pruning.PruneWithOptions(runtime.DeepCopyJSON(object), s.structural, true, structuralschema.UnknownFieldPathOptions{
		TrackUnknownFieldPaths: true,
	})
}

func errorsOf(list field.ErrorList) []error {
	all := make([]error, 0, len(list))
	for _, each := range list {
		all = append(all, each)
	}
	return all
}
