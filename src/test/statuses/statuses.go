// Package statuses keeps what the controllers' status code makes of every situation
// that they decide about. The controllers' tests record it, and fail when it
// changes; tests of tools that read statuses take it from here.
package statuses

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Meaning is how an object is, in a situation, in the eyes of whoever decides about
// it: not what its conditions say, but what they should.
type Meaning string

// The meanings.
const (
	// Unseen means that no status of this version was written.
	Unseen Meaning = "Unseen"
	// Working means that something is going to happen, or that it is not as it should be.
	Working Meaning = "Working"
	// Stuck means that only a person can help.
	Stuck Meaning = "Stuck"
	// Resting means that a person wants nothing to happen.
	Resting Meaning = "Resting"
	// Done means that all is as declared and serves its purpose.
	Done Meaning = "Done"
)

// Record is an object in one situation.
type Record struct {
	// Situation says in a sentence what the case is.
	Situation string `yaml:"situation"`
	// Meaning is what a tool should make of it.
	Meaning Meaning `yaml:"meaning"`
	// Deleting: the object is on its way out.
	Deleting bool `yaml:"deleting,omitempty"`
	// ObservedGeneration is its status's.
	ObservedGeneration int64 `yaml:"observedGeneration"`
	// Conditions are its status's, in their order, as in "Ready=False (Creating)".
	Conditions []string `yaml:"conditions,flow"`
}

// Conditions are conditions in the form of a Record. What they say in words is left
// out: no tool decides by it.
func Conditions(all []metav1.Condition) []string {
	texts := make([]string, 0, len(all))
	for _, each := range all {
		texts = append(texts, fmt.Sprintf("%s=%s (%s)", each.Type, each.Status, each.Reason))
	}
	return texts
}

// Generation is that of every recorded object: the second, so that a status can be
// of the first.
const Generation int64 = 2

// Time is when everything happens.
func Time() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

var update = flag.Bool("statuses.update", false, "write the recorded statuses, instead of comparing")

// Distinct leaves of records that differ in the situation alone the first.
func Distinct(records []Record) []Record {
	seen := map[string]bool{}
	var distinct []Record
	for _, r := range records {
		key := fmt.Sprint(r.Meaning, r.Deleting, r.ObservedGeneration, r.Conditions)
		if !seen[key] {
			distinct = append(distinct, r)
		}
		seen[key] = true
	}
	return distinct
}

// Before are the conditions of an object that was as declared and ready.
func Before(reason string) []metav1.Condition {
	all := []metav1.Condition{{Type: "Ready", Reason: reason}, {Type: "Synced", Reason: "Synced"}}
	for i := range all {
		all[i].Status, all[i].Message, all[i].ObservedGeneration = metav1.ConditionTrue, "a message", Generation
		all[i].LastTransitionTime = metav1.NewTime(Time())
	}
	return all
}

// Check compares what a controller's code makes of its situations with what was
// recorded of the kind.
func Check(t *testing.T, kind string, now []Record) {
	t.Helper()
	if *update {
		if err := write(kind, now); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := Load(kind)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recorded, now, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("statuses are written that were not recorded; -args -statuses.update records them: recorded (-), written (+):\n%s", diff)
	}
}

func write(kind string, records []Record) error {
	var text bytes.Buffer
	text.WriteString("# Recorded by the test TestTheStatusOfEverySituationIsRecorded of the kind's controller: do not edit.\n")
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(records); err != nil {
		return fmt.Errorf("encoding statuses: %w", err)
	}
	if err := os.WriteFile(path(kind), text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("recording statuses: %w", err)
	}
	return nil
}

// Load reads what was recorded of a kind.
func Load(kind string) ([]Record, error) {
	text, err := os.ReadFile(path(kind))
	if err != nil {
		return nil, fmt.Errorf("reading recorded statuses: %w", err)
	}
	var all []Record
	if err := yaml.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("recorded statuses of %s: %w", kind, err)
	}
	return all, nil
}

var condition = regexp.MustCompile(`^(\w+)=(\w+) \((\w+)\)$`)

// Object is the object, as a tool reads it.
func (r Record) Object(apiVersion, kind string) (map[string]any, error) {
	metadata := map[string]any{"name": "it", "namespace": "vms", "generation": Generation}
	if r.Deleting {
		metadata["deletionTimestamp"] = Time().Format(time.RFC3339)
	}
	conditions := make([]any, 0, len(r.Conditions))
	for _, text := range r.Conditions {
		words := condition.FindStringSubmatch(text)
		if words == nil {
			return nil, fmt.Errorf("%q is no condition", text)
		}
		conditions = append(conditions, map[string]any{"type": words[1], "status": words[2], "reason": words[3], "message": "a message"})
	}
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": metadata,
		"status": map[string]any{"observedGeneration": r.ObservedGeneration, "conditions": conditions},
	}, nil
}

func path(kind string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "testdata", kind+".yaml")
}
