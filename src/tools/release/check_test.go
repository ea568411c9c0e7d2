package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the top of the repository.
const root = "../../.."

// ready holds the files of a repository that may be released as v0.2.0.
func ready() map[string]string {
	return map[string]string{
		changelog: someChangelog,
		"Makefile": `IMG ?= registry.example.com/vmoperator:v0.2.0
MOCK_IMG ?= registry.example.com/vmoperator-mock-provider:v0.2.0
`,
		"charts/vmoperator/Chart.yaml": `version: 0.2.0
appVersion: v0.2.0
dependencies:
  - {name: mock-provider, version: 0.2.0}
annotations:
  artifacthub.io/images: |
    - name: vmoperator
      image: registry.example.com/vmoperator:v0.2.0
`,
		"charts/vmoperator/charts/mock-provider/Chart.yaml": "version: 0.2.0\nappVersion: v0.2.0\n",
	}
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestARepositoryWhoseFilesAllTellTheVersionIsReady(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := check(&out, write(t, ready()), "v0.2.0"); err != nil {
		t.Fatal(err)
	}
	if want := "release: charts, changelog and Makefile are those of v0.2.0\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}

func TestAFileThatTellsAnotherVersionIsNamed(t *testing.T) {
	t.Parallel()
	const operator, mock = "charts/vmoperator/Chart.yaml", "charts/vmoperator/charts/mock-provider/Chart.yaml"
	for _, test := range []struct{ file, old, changed, want string }{
		{operator, "version: 0.2.0\n", "version: 0.1.0\n", operator + `: version is "0.1.0", not "0.2.0"`},
		{operator, "appVersion: v0.2.0", "appVersion: 0.2.0", operator + `: appVersion is "0.2.0", not "v0.2.0"`},
		{operator, "provider, version: 0.2.0", "provider, version: 0.1.0", operator + `: version of dependency mock-provider is "0.1.0"`},
		{operator, "vmoperator:v0.2.0", "vmoperator:v0.1.0", `tag of registry.example.com/vmoperator is "v0.1.0"`},
		{mock, "version: 0.2.0", "version: 0.1.0", mock + `: version is "0.1.0"`},
		{mock, "appVersion: v0.2.0", "", mock + `: appVersion is "", not "v0.2.0"`},
		{changelog, "## [0.2.0]", "## [0.2.1]", "CHANGELOG.md has no section of v0.2.0"},
		{"Makefile", "provider:v0.2.0", "provider:v0.1.0", `Makefile: tag of MOCK_IMG is "v0.1.0"`},
		{"Makefile", "vmoperator:v0.2.0", "vmoperator:latest", `Makefile: tag of IMG is "latest"`},
	} {
		files := maps.Clone(ready())
		files[test.file] = strings.Replace(files[test.file], test.old, test.changed, 1)
		if files[test.file] == ready()[test.file] {
			t.Fatalf("%s has no %q", test.file, test.old)
		}
		if err := check(io.Discard, write(t, files), "v0.2.0"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q in %s: %v; want an error with %q", test.changed, test.file, err, test.want)
		}
	}
}

func TestOnlyAVersionThatAnImageTagCanHoldIsReleased(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"v0.1.0": true, "v1.22.333": true, "v1.0.0-rc.1": true,
		"0.1.0": false, "v0.1": false, "v01.0.0": false, "v1.0.0+build": false, "v1.0.0-": false, "v1.0.0\n": false, "": false,
	} {
		if got := released.MatchString(version); got != want {
			t.Errorf("%q is a version: %v, want %v", version, got, want)
		}
	}
}

func TestOurOwnFilesTellOneVersion(t *testing.T) {
	t.Parallel()
	chart, err := readChart(filepath.Join(root, operatorChart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		checkChart(root, operatorChart, chart.AppVersion),
		checkChart(root, filepath.Join(operatorChart, mockChart), chart.AppVersion),
		checkMakefile(root, chart.AppVersion),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}
