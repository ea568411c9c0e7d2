// Package fieldmanager reads from an object's managedFields who has set a field. A
// manager's name is its client's own claim: kubectl says kubectl-edit, and whoever
// wishes to may say so too.
package fieldmanager

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// Entry is who has set a field. The zero value means that nobody is known to.
type Entry struct {
	// Manager is what the client calls itself.
	Manager string
	// Subresource is what the client wrote to; empty for the object itself.
	Subresource string
	// Time is when the client last wrote; zero if that is not told.
	Time time.Time
}

// Name is the entry without its time: "kubectl via scale".
func (e Entry) Name() string {
	if e.Manager == "" {
		return "an unknown manager"
	}
	// A name is any text that a client sent, and goes into one line of an event.
	name := strings.ToValidUTF8(strings.Join(strings.Fields(e.Manager), " "), "")
	if e.Subresource != "" {
		name += " via " + e.Subresource
	}
	return name
}

// String is the entry for people: "kubectl via scale at 2026-01-02T03:04:05Z".
func (e Entry) String() string {
	if e.Time.IsZero() {
		return e.Name()
	}
	return e.Name() + " at " + e.Time.UTC().Format(time.RFC3339)
}

// Of returns who last wrote one of the fields or something below it. Of several
// it is the one that wrote last; of two within the same second, as times are told,
// it is not this operator, which asks about what it finds changed.
func Of(object metav1.Object, paths ...fieldpath.Path) (Entry, error) {
	var last Entry
	for _, entry := range object.GetManagedFields() {
		set := &fieldpath.Set{}
		if entry.FieldsV1 == nil {
			continue
		}
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return Entry{}, fmt.Errorf("reading managedFields of manager %q: %w", entry.Manager, err)
		}
		if !hasAny(set, paths) {
			continue
		}
		found := Entry{Manager: entry.Manager, Subresource: entry.Subresource}
		if entry.Time != nil {
			found.Time = entry.Time.Time
		}
		if last.Manager == "" || found.Time.After(last.Time) || found.Time.Equal(last.Time) && found.Manager != exampleappsv1.FieldOwner {
			last = found
		}
	}
	return last, nil
}

func hasAny(set *fieldpath.Set, paths []fieldpath.Path) bool {
	for _, path := range paths {
		if set.Has(path) {
			return true
		}
		below := set
		for _, element := range path {
			below = below.WithPrefix(element)
		}
		if !below.Empty() {
			return true
		}
	}
	return false
}

// Replicas is the path of the number of replicas.
func Replicas() fieldpath.Path { return fieldpath.MakePathOrDie("spec", "replicas") }

// Container is the path of a field of a Deployment's container.
func Container(container string, field ...any) fieldpath.Path {
	path := fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", container))
	return append(path, fieldpath.MakePathOrDie(field...)...)
}
