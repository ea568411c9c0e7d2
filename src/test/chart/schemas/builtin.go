package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const reference = "#/definitions/"

// builtIn reads the schemas of Kubernetes' own kinds from its OpenAPI v2 document.
// Each gets what it refers to with it, so that a file stands alone.
func builtIn(path string) ([]schema, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	var document struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for name, definition := range document.Definitions {
		document.Definitions[name] = loosened(name, definition)
	}
	var schemas []schema
	for name, definition := range document.Definitions {
		kinds, err := kindsOf(definition)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, name, err)
		}
		// What all groups share, as DeleteOptions, is no kind of any.
		if len(kinds) != 1 {
			continue
		}
		needed := map[string]any{}
		collect(name, document.Definitions, needed)
		kinds[0].content = map[string]any{"$ref": reference + name, "definitions": needed}
		schemas = append(schemas, kinds[0])
	}
	return schemas, nil
}

// loosened is a definition whose type the document tells too narrowly, as it is,
// and any other made strict.
func loosened(name string, definition map[string]any) map[string]any {
	switch {
	case definition["format"] == "int-or-string":
		return map[string]any{"type": []string{"integer", "string"}}
	case strings.HasSuffix(name, ".api.resource.Quantity"):
		return map[string]any{"type": []string{"number", "string"}}
	}
	strict(definition)
	return definition
}

// kindsOf are the kinds that a definition is of, without content.
func kindsOf(definition map[string]any) ([]schema, error) {
	raw, err := json.Marshal(definition["x-kubernetes-group-version-kind"])
	if err != nil {
		return nil, err
	}
	var kinds []struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &kinds); err != nil {
		return nil, err
	}
	schemas := make([]schema, 0, len(kinds))
	for _, kind := range kinds {
		schemas = append(schemas, schema{group: kind.Group, version: kind.Version, kind: kind.Kind})
	}
	return schemas, nil
}

// collect adds a definition, and all that it leads to.
func collect(name string, definitions map[string]map[string]any, to map[string]any) {
	if _, done := to[name]; done {
		return
	}
	to[name] = definitions[name]
	visit(definitions[name], func(node map[string]any) {
		if target, ok := node["$ref"].(string); ok {
			collect(strings.TrimPrefix(target, reference), definitions, to)
		}
	})
}
