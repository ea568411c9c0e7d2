package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

type schema = apiextensionsv1.JSONSchemaProps

// schema compares a field and all below it. prefix tells the CRD and version, field the path within the object.
func (c *comparison) schema(prefix, field string, before, after *schema) {
	if before == nil || after == nil {
		return
	}
	path := prefix + cmp.Or(field, "the object")
	if typeOf(before) != typeOf(after) {
		c.breach(path, "the type was changed from %s to %s", typeOf(before), typeOf(after))
		// All that follows from it would only hide it.
		return
	}
	c.values(path, before, after)
	c.bounds(path, before, after)
	c.structure(path, before, after)
	c.properties(prefix, field, before, after)
	c.elements(prefix, field, before, after)
}

func typeOf(s *schema) string {
	if s.XIntOrString {
		return "integer or string"
	}
	return cmp.Or(s.Type, "any")
}

// values compares what a single value may be.
func (c *comparison) values(path string, before, after *schema) {
	if after.Format != before.Format && after.Format != "" && !isWider(before.Format, after.Format) {
		c.breach(path, "the format was changed from %s to %s", cmp.Or(before.Format, "none"), after.Format)
	}
	if before.Nullable && !after.Nullable {
		c.breach(path, "null is no longer accepted")
	}
	if after.Pattern != before.Pattern && after.Pattern != "" {
		c.breach(path, "the pattern was changed from %s to %s", cmp.Or(before.Pattern, "none"), after.Pattern)
	}
	c.enum(path, before.Enum, after.Enum)
	if combined(after) != nil && !apiequality.Semantic.DeepEqual(combined(before), combined(after)) {
		c.breach(path, "allOf, anyOf, oneOf or not was added or changed")
	}
	c.judgement(path, before, after)
}

// judgement warns of what can hurt, but not by the schema alone.
func (c *comparison) judgement(path string, before, after *schema) {
	for _, rule := range after.XValidations {
		if !slices.ContainsFunc(before.XValidations, func(old apiextensionsv1.ValidationRule) bool { return old.Rule == rule.Rule }) {
			c.warn(path, "the rule %s is new: make sure that no object can break it", rule.Rule)
		}
	}
	if before.Default != nil && !apiequality.Semantic.DeepEqual(before.Default, after.Default) {
		c.warn(path, "the default was changed from %s to %s", before.Default.Raw, raw(after.Default))
	}
}

func isWider(before, after string) bool {
	return before == "int32" && after == "int64" || before == "float" && after == "double"
}

func raw(value *apiextensionsv1.JSON) string {
	if value == nil {
		return "none"
	}
	return string(value.Raw)
}

// combined returns what the schema says by reference to other schemas: nil if nothing. These hardly occur outside of
// generated int-or-string types, so whether a change widens or narrows is left to a person.
func combined(s *schema) *schema {
	if len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0 && s.Not == nil {
		return nil
	}
	return &schema{AllOf: s.AllOf, AnyOf: s.AnyOf, OneOf: s.OneOf, Not: s.Not}
}

func (c *comparison) enum(path string, before, after []apiextensionsv1.JSON) {
	if len(after) == 0 {
		return
	}
	values := func(list []apiextensionsv1.JSON) []string {
		texts := make([]string, len(list))
		for i := range list {
			texts[i] = raw(&list[i])
		}
		return texts
	}
	if len(before) == 0 {
		c.breach(path, "only %s are accepted now", strings.Join(values(after), ", "))
		return
	}
	for _, value := range values(before) {
		if !slices.Contains(values(after), value) {
			c.breach(path, "the value %s was removed", value)
		}
	}
}

func (c *comparison) bounds(path string, before, after *schema) {
	lower(c, path, "minimum", before.Minimum, after.Minimum)
	lower(c, path, "minLength", before.MinLength, after.MinLength)
	lower(c, path, "minItems", before.MinItems, after.MinItems)
	lower(c, path, "minProperties", before.MinProperties, after.MinProperties)
	upper(c, path, "maximum", before.Maximum, after.Maximum)
	upper(c, path, "maxLength", before.MaxLength, after.MaxLength)
	upper(c, path, "maxItems", before.MaxItems, after.MaxItems)
	upper(c, path, "maxProperties", before.MaxProperties, after.MaxProperties)
	if after.ExclusiveMinimum && !before.ExclusiveMinimum && before.Minimum != nil {
		c.breach(path, "the minimum itself is no longer accepted")
	}
	if after.ExclusiveMaximum && !before.ExclusiveMaximum && before.Maximum != nil {
		c.breach(path, "the maximum itself is no longer accepted")
	}
	if after.MultipleOf != nil && value(before.MultipleOf) != *after.MultipleOf {
		c.breach(path, "values must be multiples of %v now", *after.MultipleOf)
	}
	if after.UniqueItems && !before.UniqueItems {
		c.breach(path, "items must be unique now")
	}
}

func lower[T cmp.Ordered](c *comparison, path, name string, before, after *T) {
	switch {
	case after == nil:
	case before == nil:
		c.breach(path, "%s %v was added", name, *after)
	case *after > *before:
		c.breach(path, "%s was raised from %v to %v", name, *before, *after)
	}
}

func upper[T cmp.Ordered](c *comparison, path, name string, before, after *T) {
	switch {
	case after == nil:
	case before == nil:
		c.breach(path, "%s %v was added", name, *after)
	case *after < *before:
		c.breach(path, "%s was lowered from %v to %v", name, *before, *after)
	}
}

// structure compares how server-side apply merges, and what is kept without a schema.
func (c *comparison) structure(path string, before, after *schema) {
	if value(before.XListType) != value(after.XListType) {
		c.breach(path, "the list type was changed from %s to %s", cmp.Or(value(before.XListType), "none"), cmp.Or(value(after.XListType), "none"))
	}
	if !slices.Equal(before.XListMapKeys, after.XListMapKeys) {
		c.breach(path, "the list's keys were changed from %v to %v", before.XListMapKeys, after.XListMapKeys)
	}
	if value(before.XMapType) != value(after.XMapType) {
		c.breach(path, "the map type was changed from %s to %s", cmp.Or(value(before.XMapType), "none"), cmp.Or(value(after.XMapType), "none"))
	}
	if value(before.XPreserveUnknownFields) && !value(after.XPreserveUnknownFields) {
		c.breach(path, "unknown fields are no longer kept")
	}
}

func value[T any](pointer *T) T {
	var zero T
	if pointer == nil {
		return zero
	}
	return *pointer
}

func (c *comparison) properties(prefix, field string, before, after *schema) {
	for _, name := range slices.Sorted(maps.Keys(before.Properties)) {
		property := before.Properties[name]
		child := strings.TrimPrefix(field+"."+name, ".")
		successor, ok := after.Properties[name]
		if !ok {
			if !value(after.XPreserveUnknownFields) {
				c.breach(prefix+child, "the field was removed")
			}
			continue
		}
		c.schema(prefix, child, &property, &successor)
	}
	for _, name := range after.Required {
		// A default fills the field in before it is missed.
		if !slices.Contains(before.Required, name) && after.Properties[name].Default == nil {
			c.breach(prefix+strings.TrimPrefix(field+"."+name, "."), "the field is required now")
		}
	}
}

// elements compares what lists and maps hold.
func (c *comparison) elements(prefix, field string, before, after *schema) {
	if before.Items != nil && after.Items != nil {
		c.schema(prefix, field+"[]", before.Items.Schema, after.Items.Schema)
	}
	if before.AdditionalProperties == nil {
		return
	}
	if after.AdditionalProperties == nil {
		if !value(after.XPreserveUnknownFields) {
			c.breach(prefix+cmp.Or(field, "the object"), "free keys are no longer kept")
		}
		return
	}
	c.schema(prefix, field+".*", before.AdditionalProperties.Schema, after.AdditionalProperties.Schema)
}
