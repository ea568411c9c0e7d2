package docs

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// nightly are the pages that are read in a hurry.
var nightly = []string{"docs/runbooks.md", "docs/reference/faults.md"}

var (
	codedName = regexp.MustCompile("`([A-Z][a-z]+(?:[A-Z][a-z]+)*)`")
	// otherNames are no reasons: a condition's status, and a deletionPolicy.
	otherNames = []string{string(computev1.DeletionPolicyRetain), "Unknown"}
)

// events are the reasons of events that docs/concepts.md explains.
func events(t *testing.T) []string {
	t.Helper()
	_, section, found := strings.Cut(read(t, "docs/concepts.md").prose, "\n## Events\n")
	if !found {
		t.Fatal("docs/concepts.md has no section Events")
	}
	var names []string
	for _, match := range codedName.FindAllStringSubmatch(section, -1) {
		names = append(names, match[1])
	}
	return names
}

func TestReasonsAndEventsThatAreNamedForTheNightExist(t *testing.T) {
	t.Parallel()
	known := append(events(t), otherNames...)
	for _, value := range constants(t, "src/api/compute/v1/conditions.go") {
		known = append(known, value)
	}
	for _, path := range nightly {
		for _, match := range codedName.FindAllStringSubmatch(read(t, path).prose, -1) {
			if !slices.Contains(known, match[1]) {
				t.Errorf("%s names %s, which is no condition, reason or event", path, match[1])
			}
		}
	}
}

var kubectlLine = regexp.MustCompile(`(?m)(?:^\$|\|) kubectl (.*)$`)

// commands are what a page says to type after kubectl.
func (p page) commands() []string {
	var found []string
	for _, b := range p.blocks {
		for _, match := range kubectlLine.FindAllStringSubmatch(b.text, -1) {
			found = append(found, match[1])
		}
	}
	return found
}

var (
	kubectlVerb    = regexp.MustCompile(`^(get|describe|annotate|patch|delete|create|apply)\b`)
	kubectlAbout   = regexp.MustCompile(`^(?:get|describe|annotate|patch) (\S+)`)
	annotated      = regexp.MustCompile(`^annotate \S+ \S+ (\S+)=(.+)$`)
	conditionOfVM  = regexp.MustCompile(`@\.type=="([^"]*)"`)
	fieldOfObject  = regexp.MustCompile(`\.(spec|status)\.(\w+)`)
	patchedField   = regexp.MustCompile(`"spec":\{"(\w+)"`)
	shownResources = []string{"vm", "pcfg", "pcfg,vm", "vm,pcfg"}
)

func TestCommandsForTheNightNameWhatExists(t *testing.T) {
	t.Parallel()
	var annotations, conditions []string
	for name, value := range constants(t, "src/api/compute/v1/names.go") {
		if strings.HasSuffix(name, "Annotation") {
			annotations = append(annotations, value)
		}
	}
	for name, value := range constants(t, "src/api/compute/v1/conditions.go") {
		if strings.HasPrefix(name, "Condition") {
			conditions = append(conditions, value)
		}
	}
	commands := read(t, "docs/runbooks.md").commands()
	if len(commands) == 0 {
		t.Fatal("docs/runbooks.md has no command")
	}
	for _, command := range commands {
		if !kubectlVerb.MatchString(command) {
			t.Errorf("kubectl %s: what is that?", command)
		}
		if about := kubectlAbout.FindStringSubmatch(command); len(about) > 1 && !slices.Contains(shownResources, about[1]) {
			t.Errorf("kubectl %s: there is no %s", command, about[1])
		}
		if match := annotated.FindStringSubmatch(command); len(match) > 1 && !slices.Contains(annotations, match[1]) {
			t.Errorf("kubectl %s: nobody reads %s", command, match[1])
		}
		for _, match := range conditionOfVM.FindAllStringSubmatch(command, -1) {
			if !slices.Contains(conditions, match[1]) {
				t.Errorf("kubectl %s: there is no condition %s", command, match[1])
			}
		}
		for _, match := range fieldOfObject.FindAllStringSubmatch(command, -1) {
			if !slices.Contains(fields(match[1]), match[2]) {
				t.Errorf("kubectl %s: no object has %s", command, match[0])
			}
		}
		if match := patchedField.FindStringSubmatch(command); len(match) > 1 && !slices.Contains(fields("spec"), match[1]) {
			t.Errorf("kubectl %s: no spec has %s", command, match[1])
		}
	}
}

// fields are those of both kinds' spec or status.
func fields(of string) []string {
	types := []reflect.Type{reflect.TypeFor[computev1.VirtualMachineSpec](), reflect.TypeFor[computev1.ProviderConfigSpec]()}
	if of == "status" {
		types = []reflect.Type{reflect.TypeFor[computev1.VirtualMachineStatus](), reflect.TypeFor[computev1.ProviderConfigStatus]()}
	}
	var names []string
	for _, kind := range types {
		for field := range kind.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// What a person must release can only be released by its name.
func TestEveryReasonThatIsReleasedHasItsCommand(t *testing.T) {
	t.Parallel()
	var written strings.Builder
	for _, p := range pages(t) {
		written.WriteString(strings.Join(p.commands(), "\n") + "\n")
	}
	for _, reason := range []string{
		computev1.ReasonMassDisappearance, computev1.ReasonIdentityChanged, computev1.ReasonCapabilitiesShrunk,
	} {
		if !strings.Contains(written.String(), computev1.ReleaseAnnotation+"="+reason+"\n") {
			t.Errorf("no page says how to release %s", reason)
		}
	}
}
