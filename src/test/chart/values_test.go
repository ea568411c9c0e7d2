package chart

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// node is what a schema says of one value.
type node struct {
	Properties           map[string]node `json:"properties"`
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
}

// leaves are the paths of the values that a schema tells apart no further.
func (n node) leaves(path string) []string {
	if len(n.Properties) == 0 {
		return []string{path}
	}
	var found []string
	for name, inner := range n.Properties {
		found = append(found, inner.leaves(strings.TrimPrefix(path+"."+name, "."))...)
	}
	slices.Sort(found)
	return found
}

// loose are the paths at which a value of any name is taken.
func (n node) loose(path string) []string {
	var found []string
	if len(n.Properties) > 0 && string(n.AdditionalProperties) != "false" {
		found = append(found, path)
	}
	for name, inner := range n.Properties {
		found = append(found, inner.loose(strings.TrimPrefix(path+"."+name, "."))...)
	}
	return found
}

// parts are the chart and its subchart. What a schema takes beside the values is
// set by a chart around it, or for one in it.
var parts = []struct {
	dir    string
	around []string
}{
	{dir: ".", around: []string{"enabled", "mock-provider"}},
	{dir: "charts/mock-provider", around: []string{"enabled", "global.imageRegistry", "global.imagePullSecrets"}},
}

func schemaOf(t *testing.T, dir string) node {
	t.Helper()
	var schema node
	if err := json.Unmarshal(file(t, dir+"/values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// paths are the values that are set, down to those that a schema tells apart no further.
func paths(values any, schema node, path string) []string {
	object, isObject := values.(map[string]any)
	if !isObject || path != "" && len(schema.Properties) == 0 {
		return []string{path}
	}
	var found []string
	for name, inner := range object {
		found = append(found, paths(inner, schema.Properties[name], strings.TrimPrefix(path+"."+name, "."))...)
	}
	return found
}

func TestTheSchemaHasTheValuesThatThereAre(t *testing.T) {
	t.Parallel()
	for _, part := range parts {
		schema := schemaOf(t, part.dir)
		var values map[string]any
		if err := yaml.Unmarshal(file(t, part.dir+"/values.yaml"), &values); err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(paths(values, schema, ""), func(path string) bool { return strings.HasPrefix(path, "mock-provider") })
		got := slices.DeleteFunc(schema.leaves(""), func(path string) bool { return slices.Contains(part.around, path) })
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: values.yaml and values.schema.json differ:\n%s", part.dir, diff)
		}
		if loose := schema.loose(""); !cmp.Equal(loose, []string{"global"}) {
			t.Errorf("%s: values of any name are taken in %v", part.dir, loose)
		}
	}
}

func TestEveryValueIsDescribed(t *testing.T) {
	t.Parallel()
	described := regexp.MustCompile(`(?m)^\| ([\w.-]+) \| \w+ \| .* \| (\S.*) \|$`)
	for _, part := range parts {
		rows := map[string]bool{}
		for _, match := range described.FindAllStringSubmatch(string(file(t, part.dir+"/README.md")), -1) {
			rows[match[1]] = true
		}
		for _, path := range schemaOf(t, part.dir).leaves("") {
			if !rows[path] && !slices.Contains(part.around, path) {
				t.Errorf("%s/README.md does not say what %s is: make generate writes it from values.yaml", part.dir, path)
			}
		}
	}
}

// sets are the paths of values that the tests in a chart's folder set, apart from
// those of the schema.
func sets(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(chart, dir, "tests", "*_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range files {
		if filepath.Base(path) == "schema_test.yaml" {
			continue
		}
		relative, err := filepath.Rel(chart, path)
		if err != nil {
			t.Fatal(err)
		}
		var suite struct {
			Tests []struct {
				Set map[string]any `json:"set"`
			} `json:"tests"`
		}
		if err := yaml.Unmarshal(file(t, relative), &suite); err != nil {
			t.Fatal(err)
		}
		for _, test := range suite.Tests {
			found = append(found, flattened(test.Set, "")...)
		}
	}
	return found
}

func flattened(values any, path string) []string {
	found := []string{path}
	if object, isObject := values.(map[string]any); isObject {
		for name, inner := range object {
			found = append(found, flattened(inner, strings.TrimPrefix(path+"."+name, "."))...)
		}
	}
	return found
}

func TestEveryValueIsTested(t *testing.T) {
	t.Parallel()
	for _, part := range parts {
		tested := sets(t, part.dir)
		for _, path := range schemaOf(t, part.dir).leaves("") {
			if !slices.Contains(part.around, path) && !slices.ContainsFunc(tested, func(set string) bool {
				return set == path || strings.HasPrefix(set, path+".")
			}) {
				t.Errorf("%s: no test sets %s", part.dir, path)
			}
		}
	}
}
