package docs

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// explanations say which pages together explain the constants of an API.
var explanations = map[string][]string{
	"src/api/compute/v1": {"docs/concepts.md"},
	"src/api/apps/v1":    {"docs/apps.md", "docs/myapp.md"},
}

// explained is the prose of the pages that explain an API's constants.
func explained(t *testing.T, api string) string {
	t.Helper()
	var prose strings.Builder
	for _, path := range explanations[api] {
		prose.WriteString(read(t, path).prose)
	}
	return prose.String()
}

// statusValues are the values that an API's objects show in their status: conditions,
// reasons and states, by the names of their constants.
func statusValues(t *testing.T, api string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, api, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		for name, value := range constantsIn(source(t, filepath.Join(api, filepath.Base(file)))) {
			if isStatusValue.MatchString(name) {
				found[name] = value
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no conditions and no reasons", api)
	}
	return found
}

var isStatusValue = regexp.MustCompile("^(Condition|Reason|State)[A-Z]")

func TestEveryConditionReasonAndStateIsExplained(t *testing.T) {
	t.Parallel()
	for api, pages := range explanations {
		prose := explained(t, api)
		for name, value := range statusValues(t, api) {
			if !strings.Contains(prose, "| `"+value+"` |") {
				t.Errorf("%v: no row for %s, %q", pages, name, value)
			}
		}
	}
}

func TestEveryReasonThatStallsHasARemedy(t *testing.T) {
	t.Parallel()
	remedies := read(t, "docs/troubleshooting.md").anchors()
	concepts := read(t, "docs/concepts.md").prose
	transitions := read(t, "docs/reference/transitions.md").prose
	stall := regexp.MustCompile(`\| Stall \| (\w+) \|`)
	found := stall.FindAllStringSubmatch(transitions, -1)
	if len(found) == 0 {
		t.Fatal("the table of transitions stalls nowhere")
	}
	for _, match := range found {
		if !remedies[strings.ToLower(match[1])] {
			t.Errorf("docs/troubleshooting.md does not say what to do about %s", match[1])
		}
		if !strings.Contains(concepts, "troubleshooting.md#"+strings.ToLower(match[1])) {
			t.Errorf("docs/concepts.md does not lead to the remedy of %s", match[1])
		}
	}
}

var rowOfReason = regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]+)` \\|")

func TestReasonsThatAreExplainedExist(t *testing.T) {
	t.Parallel()
	for api, pages := range explanations {
		known := slices.Collect(maps.Values(statusValues(t, api)))
		for _, path := range pages {
			rows := rowOfReason.FindAllStringSubmatch(strings.Join(tableOfReasons.FindAllString(read(t, path).prose, -1), ""), -1)
			if len(rows) == 0 {
				t.Errorf("%s has no table of conditions or reasons", path)
			}
			for _, row := range rows {
				if !slices.Contains(known, row[1]) {
					t.Errorf("%s explains %s, which no object has", path, row[1])
				}
			}
		}
	}
}

// tableOfReasons is a table whose first column has conditions or reasons.
var tableOfReasons = regexp.MustCompile(`(?m)^\| (?:Condition|Reason) \|.*\n(?:\|.*\n)+`)

func TestEveryAnnotationThatUsersSetIsExplained(t *testing.T) {
	t.Parallel()
	for api, pages := range explanations {
		prose := explained(t, api)
		for name, value := range constants(t, api+"/names.go") {
			if strings.HasSuffix(name, "Annotation") && !strings.Contains(prose, "`"+value) {
				t.Errorf("%v: %s is not explained", pages, value)
			}
		}
	}
}
