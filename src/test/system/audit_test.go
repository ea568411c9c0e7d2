package system

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/example/vmoperator/src/test/controlplane"
	"github.com/example/vmoperator/src/test/operator"
)

// tally counts writes, as in "patch virtualmachines/status", each with the count.
type tally map[string]int

var marks atomic.Int32

// writes are those that the operator has made in the world's namespace, but for
// its claim to it, which it renews all the time.
func (w *world) writes() tally {
	w.t.Helper()
	// The log gets a write when it has been answered. One of our own, made now, comes
	// after all that has happened.
	mark := fmt.Sprintf("mark-%d", marks.Add(1))
	create(w.t, &corev1.ConfigMap{ObjectMeta: w.meta(mark)})
	var count tally
	operator.WaitFor(w.t, "the audit log", func(context.Context) bool {
		events, err := controlplane.ReadAuditLog(auditLog)
		if err != nil {
			return false
		}
		count = tally{}
		for i := range events {
			e := &events[i]
			switch {
			case e.ObjectRef == nil || e.ObjectRef.Namespace != w.namespace:
			case e.ObjectRef.Resource == "configmaps" && e.ObjectRef.Name == mark:
				return true
			case e.User.Username == operatorUser && e.ObjectRef.Resource != "leases":
				what := e.Verb + " " + e.ObjectRef.Resource
				if e.ObjectRef.Subresource != "" {
					what += "/" + e.ObjectRef.Subresource
				}
				count[what]++
			}
		}
		return false
	})
	return count
}

// since are the writes that came after others.
func (t tally) since(earlier tally) tally {
	later := tally{}
	for what, count := range t {
		if more := count - earlier[what]; more > 0 {
			later[what] = more
		}
	}
	return later
}

// of sums up those of a resource, its subresources included.
func (t tally) of(resource string) int {
	sum := 0
	for what, count := range t {
		_, about, _ := strings.Cut(what, " ")
		if about == resource || strings.HasPrefix(about, resource+"/") {
			sum += count
		}
	}
	return sum
}

// String lists the counts.
func (t tally) String() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(t)) {
		parts = append(parts, fmt.Sprintf("%d %s", t[what], what))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
