package main

// strict refuses, in a schema and in all within it, fields that are not defined.
func strict(content map[string]any) {
	visit(content, func(node map[string]any) {
		properties, isObject := node["properties"].(map[string]any)
		if _, open := node["additionalProperties"]; !isObject || len(properties) == 0 || open {
			return
		}
		if node["type"] == "object" && node["x-kubernetes-preserve-unknown-fields"] != true {
			node["additionalProperties"] = false
		}
	})
}

// visit calls a function for every object within a JSON value, itself included.
func visit(value any, call func(map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		call(value)
		for _, inner := range value {
			visit(inner, call)
		}
	case []any:
		for _, inner := range value {
			visit(inner, call)
		}
	}
}
