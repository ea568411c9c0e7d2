package myapp

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/fieldmanager"
	"github.com/example/vmoperator/src/controller/happening"
)

// Reasons of events that no condition has.
const (
	reasonCreated        = "Created"
	reasonUpdated        = "Updated"
	reasonPutBack        = "PutBack"
	reasonServiceDeleted = "ServiceDeleted"
)

// happened remembers something that was done, to tell at the end of the pass.
func (p *pass) happened(h happening.Happening) { p.events = append(p.events, h) }

// blame is what one manager has changed; without a name, what the spec has.
type blame struct {
	by   string
	what []string
}

// blame finds out who has made each difference, from an object that was read past
// the cache. Where no other manager owns a field, it was taken away by somebody,
// unless the spec is new; or it is the number of replicas that an AppAutoscaler has
// left.
func (p *pass) blame(object metav1.Object, differences []difference) ([]blame, error) {
	var all []blame
	for _, d := range differences {
		setter, err := fieldmanager.Of(object, d.path)
		if err != nil {
			return nil, err
		}
		ours := setter.Manager == "" || setter.Manager == exampleappsv1.FieldOwner || setter.Manager == replicasOwner
		by := setter.String()
		switch {
		case ours && (p.specIsNews() || d.path.Equals(fieldmanager.Replicas())):
			by = ""
		case ours:
			by = fieldmanager.Entry{}.String()
		}
		i := slices.IndexFunc(all, func(b blame) bool { return b.by == by })
		if i < 0 {
			all = append(all, blame{by: by})
			i = len(all) - 1
		}
		all[i].what = append(all[i].what, d.what)
	}
	return all, nil
}

// putRight tells what was put right, and remembers how often.
func (p *pass) putRight(what string, blames []blame, before runtime.Object) {
	for _, b := range blames {
		changes := strings.Join(b.what, ", ")
		if b.by == "" {
			p.happened(happening.Happening{Reason: reasonUpdated, Note: fmt.Sprintf("%s updated: %s", what, changes), About: before})
			continue
		}
		p.happened(happening.Happening{
			Reason: reasonPutBack, Note: fmt.Sprintf("%s put back: %s, set by %s", what, changes, b.by), About: before, Warning: true,
		})
		p.seen.corrections.Corrected(p.now)
		p.seen.other = b.by
	}
}
