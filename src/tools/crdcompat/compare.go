package main

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Finding is one change that can hurt objects or clients that exist.
type Finding struct {
	// Path is the CRD, the version and the field.
	Path    string
	Message string
	// Warning marks what a person has to judge.
	Warning bool
}

func (f Finding) String() string {
	if f.Warning {
		return "warning: " + f.Path + ": " + f.Message
	}
	return f.Path + ": " + f.Message
}

// Compare returns what newer CRDs no longer accept or keep that the older ones did.
func Compare(older, newer []*apiextensionsv1.CustomResourceDefinition) []Finding {
	var c comparison
	for _, before := range older {
		i := slices.IndexFunc(newer, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == before.Name })
		if i < 0 {
			c.breach(before.Name, "the CRD was removed")
			continue
		}
		c.crd(before, newer[i])
	}
	return c.findings
}

type comparison struct {
	findings []Finding
}

func (c *comparison) breach(path, format string, args ...any) {
	c.findings = append(c.findings, Finding{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (c *comparison) warn(path, format string, args ...any) {
	c.findings = append(c.findings, Finding{Path: path, Message: fmt.Sprintf(format, args...), Warning: true})
}

func (c *comparison) crd(before, after *apiextensionsv1.CustomResourceDefinition) {
	path := before.Name
	if before.Spec.Scope != after.Spec.Scope {
		c.breach(path, "the scope was changed from %s to %s", before.Spec.Scope, after.Spec.Scope)
	}
	if before.Spec.Names.Kind != after.Spec.Names.Kind {
		c.breach(path, "the kind was changed from %s to %s", before.Spec.Names.Kind, after.Spec.Names.Kind)
	}
	for i := range before.Spec.Versions {
		version := &before.Spec.Versions[i]
		if !version.Served {
			continue
		}
		j := slices.IndexFunc(after.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Name == version.Name && v.Served
		})
		if j < 0 {
			c.breach(path, "version %s is no longer served", version.Name)
			continue
		}
		c.version(path+" "+version.Name, version, &after.Spec.Versions[j])
	}
}

func (c *comparison) version(path string, before, after *apiextensionsv1.CustomResourceDefinitionVersion) {
	hadStatus, hadScale := subresources(before)
	hasStatus, hasScale := subresources(after)
	if hadStatus && !hasStatus {
		c.breach(path, "the status subresource was removed")
	}
	if hadScale && !hasScale {
		c.breach(path, "the scale subresource was removed")
	}
	for _, field := range before.SelectableFields {
		if !slices.Contains(after.SelectableFields, field) {
			c.breach(path, "%s can no longer be selected by", field.JSONPath)
		}
	}
	if before.Schema != nil && after.Schema != nil {
		c.schema(path+": ", "", before.Schema.OpenAPIV3Schema, after.Schema.OpenAPIV3Schema)
	}
}

func subresources(version *apiextensionsv1.CustomResourceDefinitionVersion) (status, scale bool) {
	if version.Subresources == nil {
		return false, false
	}
	return version.Subresources.Status != nil, version.Subresources.Scale != nil
}
