package docs

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// code looks like a link where a regular expression is in it.
	code = regexp.MustCompile("`[^`\n]*`")
)

func TestLinksLeadToFilesAndHeadingsThatExist(t *testing.T) {
	t.Parallel()
	anchors := map[string]map[string]bool{}
	all := pages(t)
	for _, p := range all {
		anchors[p.path] = p.anchors()
	}
	for _, p := range all {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(p.prose, ""), -1) {
			if problem := problemOf(p.path, match[1], anchors); problem != "" {
				t.Errorf("%s: the link %s %s", p.path, match[1], problem)
			}
		}
	}
}

// problemOf says what is wrong with a link on a page; nothing is with one that
// leads out of the repository. The pages' anchors are given by their paths.
func problemOf(from, to string, anchors map[string]map[string]bool) string {
	target, err := url.Parse(to)
	switch {
	case err != nil:
		return "is no URL"
	case target.IsAbs():
		return ""
	}
	file := from
	if target.Path != "" {
		file = path.Join(path.Dir(from), target.Path)
	}
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		return "leads to no file"
	}
	if headings, isPage := anchors[file]; isPage && target.Fragment != "" && !headings[target.Fragment] {
		return "leads to no heading"
	}
	return ""
}

var ourName = regexp.MustCompile(`\b(?:compute\.example\.com|apps\.example\.io)/([a-z][a-z-]*)`)

func TestAnnotationsLabelsAndFinalizersThatAreNamedExist(t *testing.T) {
	t.Parallel()
	var known []string
	for _, file := range []string{
		"src/api/compute/v1/names.go", "src/controller/owner/owner.go", "src/api/apps/v1/names.go", "src/api/apps/v1/myapp_conditions.go",
	} {
		for _, value := range constants(t, file) {
			known = append(known, value)
		}
	}
	for _, p := range pages(t) {
		for _, match := range ourName.FindAllStringSubmatch(p.written(), -1) {
			// kubectl takes an annotation away that ends in a dash; v is a version.
			name := strings.TrimSuffix(match[0], "-")
			if match[1] != "v" && !slices.Contains(known, name) {
				t.Errorf("%s names %s, which does not exist", p.path, name)
			}
		}
	}
}

func TestEveryFlagIsExplained(t *testing.T) {
	t.Parallel()
	for file, path := range map[string]string{
		managerFlags: "docs/operations.md", conformanceFlags: "docs/write-your-own-provider.md",
		smokeTestFlags: "docs/operations.md", guardFlags: "docs/operations.md",
	} {
		explained := read(t, path).prose
		for _, name := range flags(t, file) {
			if !strings.Contains(explained, "`--"+name+"`") {
				t.Errorf("%s does not explain --%s", path, name)
			}
		}
	}
}

// ourFlag leaves out the flags of kubectl, kind and others: in prose, a flag
// alone between backquotes is ours.
var ourFlag = regexp.MustCompile("`--([a-z][a-z-]+)(?:=[^`]*)?`")

func TestFlagsThatAreNamedExist(t *testing.T) {
	t.Parallel()
	known := slices.Concat(flags(t, managerFlags), flags(t, conformanceFlags), flags(t, smokeTestFlags), flags(t, guardFlags))
	for _, p := range pages(t) {
		if strings.HasPrefix(p.path, "mockprovider/") {
			continue
		}
		for _, match := range ourFlag.FindAllStringSubmatch(p.prose, -1) {
			name := match[1]
			if !slices.Contains(known, name) && !slices.Contains(flagsOfOthers, name) && !strings.HasPrefix(name, "zap-") {
				t.Errorf("%s names --%s, which the operator does not have", p.path, name)
			}
		}
	}
}

// flagsOfOthers are bound by controller-runtime, or are the mock provider's.
var flagsOfOthers = []string{"kubeconfig", "data", "identity"}

func TestEveryMetricIsExplained(t *testing.T) {
	t.Parallel()
	operations := read(t, "docs/operations.md").prose
	for name := range metricNames(t) {
		if !strings.Contains(operations, "| `"+name+"` |") {
			t.Errorf("docs/operations.md has no row for %s", name)
		}
	}
}

var ourMetric = regexp.MustCompile(`\bvmoperator_[a-z_]+`)

func TestMetricsThatAreNamedExist(t *testing.T) {
	t.Parallel()
	known := metricNames(t)
	series := regexp.MustCompile(`_(bucket|count|sum)$`)
	for _, p := range pages(t) {
		for _, name := range ourMetric.FindAllString(p.written(), -1) {
			if !known[name] && !known[series.ReplaceAllString(name, "")] {
				t.Errorf("%s names the metric %s, which does not exist", p.path, name)
			}
		}
	}
}

var (
	makeCommand = regexp.MustCompile("(?m)(?:`|^\\$ )make ((?:[a-z][a-z0-9-]* ?)+)")
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
)

func TestMakeTargetsThatAreNamedExist(t *testing.T) {
	t.Parallel()
	var known []string
	for _, path := range []string{
		"Makefile", "charts/chart.mk", "src/test/e2e/e2e.mk", "src/test/e2e/kind.mk", "src/test/gitops/gitops.mk", "src/tools/release/release.mk",
	} {
		makefile, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
			known = append(known, match[1])
		}
	}
	for _, p := range pages(t) {
		for _, match := range makeCommand.FindAllStringSubmatch(p.written(), -1) {
			for target := range strings.FieldsSeq(match[1]) {
				if !slices.Contains(known, target) {
					t.Errorf("%s says make %s, which the Makefile does not have", p.path, target)
				}
			}
		}
	}
}
