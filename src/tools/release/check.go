package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	operatorChart = "charts/vmoperator"
	// mockChart is where the subchart is in the operator's.
	mockChart = "charts/mock-provider"
)

var (
	// What git tags and image tags may both be: a semantic version without build metadata, whose plus sign no image tag has.
	released = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z][0-9A-Za-z.-]*)?$`)
	// The Makefile's names of the images that a chart installs where nothing else is said.
	makefileImage = regexp.MustCompile(`(?m)^((?:MOCK_)?IMG) \?= \S+:(\S+)$`)
	// An image in the annotation that Artifact Hub reads.
	annotatedImage = regexp.MustCompile(`(?m)^\s*image: (\S+):([^\s:@]+)$`)
)

// chartFile is what a release asks of a Chart.yaml.
type chartFile struct {
	Version      string `json:"version"`
	AppVersion   string `json:"appVersion"`
	Dependencies []struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"dependencies"`
	Annotations map[string]string `json:"annotations"`
}

// check fails unless all files below root that tell a version tell this one; the error names each that does not.
func check(out io.Writer, root, version string) error {
	if !released.MatchString(version) {
		return fmt.Errorf("%q is not a version such as v0.1.0", version)
	}
	err := errors.Join(
		checkChart(root, operatorChart, version),
		checkChart(root, filepath.Join(operatorChart, mockChart), version),
		checkChangelog(root, version),
		checkMakefile(root, version),
	)
	if err != nil {
		return fmt.Errorf("not ready for %s:\n%w", version, err)
	}
	fmt.Fprintf(out, "release: charts, changelog and Makefile are those of %s\n", version)
	return nil
}

func readChart(path string) (chartFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return chartFile{}, err
	}
	var chart chartFile
	if err := yaml.Unmarshal(text, &chart); err != nil {
		return chartFile{}, fmt.Errorf("%s: %w", path, err)
	}
	return chart, nil
}

func checkChart(root, dir, version string) error {
	path := filepath.Join(dir, "Chart.yaml")
	chart, err := readChart(filepath.Join(root, path))
	if err != nil {
		return err
	}
	number := strings.TrimPrefix(version, "v")
	errs := []error{
		differs(path+": version", chart.Version, number),
		differs(path+": appVersion", chart.AppVersion, version),
	}
	for _, dependency := range chart.Dependencies {
		errs = append(errs, differs(path+": version of dependency "+dependency.Name, dependency.Version, number))
	}
	for _, match := range annotatedImage.FindAllStringSubmatch(chart.Annotations["artifacthub.io/images"], -1) {
		errs = append(errs, differs(path+": annotation artifacthub.io/images: tag of "+match[1], match[2], version))
	}
	return errors.Join(errs...)
}

func checkChangelog(root, version string) error {
	text, err := os.ReadFile(filepath.Join(root, changelog))
	if err != nil {
		return err
	}
	_, err = section(string(text), version)
	return err
}

func checkMakefile(root, version string) error {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err
	}
	var errs []error
	for _, match := range makefileImage.FindAllStringSubmatch(string(text), -1) {
		errs = append(errs, differs("Makefile: tag of "+match[1], match[2], version))
	}
	return errors.Join(errs...)
}

func differs(what, got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s is %q, not %q", what, got, want)
}
