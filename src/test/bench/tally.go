package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// counts are numbers of requests by what they ask for, as in
// "patch appautoscalers/status".
type counts map[string]int

// total is the number of all requests.
func (c counts) total() int {
	sum := 0
	for _, count := range c {
		sum += count
	}
	return sum
}

// calls are what is counted, sorted.
func (c counts) calls() []string { return slices.Sorted(maps.Keys(c)) }

// except is what was counted of anything else.
func (c counts) except(calls ...string) counts {
	left := maps.Clone(c)
	for _, call := range calls {
		delete(left, call)
	}
	return left
}

// String lists what was counted.
func (c counts) String() string {
	parts := make([]string, 0, len(c))
	for _, call := range c.calls() {
		parts = append(parts, fmt.Sprintf("%s %d", call, c[call]))
	}
	return strings.Join(parts, ", ")
}

// without is what was counted since before.
func (c counts) without(before counts) counts {
	left := counts{}
	for call, count := range c {
		if count > before[call] {
			left[call] = count - before[call]
		}
	}
	return left
}

// tally is what one client has asked of the apiserver.
type tally struct {
	// writes changed something, or would have, had there been something to change.
	writes counts
	// refused are writes that the apiserver did not accept: most had read what was no
	// longer true.
	refused int
	// reads are single reads and lists; a watch is none.
	reads counts
	// watches are those that were begun.
	watches int
	// heartbeats are writes of Leases: they tell that the operator lives, whatever
	// there is to do.
	heartbeats int
}

// since is what was counted since before.
func (t tally) since(before tally) tally {
	return tally{
		writes: t.writes.without(before.writes), refused: t.refused - before.refused,
		reads: t.reads.without(before.reads), watches: t.watches - before.watches, heartbeats: t.heartbeats - before.heartbeats,
	}
}

func newTally() tally { return tally{writes: counts{}, reads: counts{}} }

func (t tally) clone() tally {
	t.writes, t.reads = maps.Clone(t.writes), maps.Clone(t.reads)
	return t
}

// firstFailure is the lowest status code of a refusal.
const firstFailure = 400

// add counts a request that was answered.
func (t *tally) add(r *request) {
	switch {
	case r.ObjectRef == nil:
		return
	case r.Verb == "watch" && r.Stage == auditv1.StageResponseStarted:
		t.watches++
		return
	case r.Stage != auditv1.StageResponseComplete:
		return
	}
	call := r.Verb + " " + r.ObjectRef.Resource
	if r.ObjectRef.Subresource != "" {
		call += "/" + r.ObjectRef.Subresource
	}
	switch r.Verb {
	case "get", "list":
		t.reads[call]++
	case "create", "update", "patch", "delete", "deletecollection":
		switch {
		case r.ObjectRef.Resource == "leases":
			t.heartbeats++
		case r.ObjectRef.APIGroup == "authorization.k8s.io":
			// A question, for all that it is a create.
			t.reads[call]++
		case r.ResponseStatus != nil && r.ResponseStatus.Code >= firstFailure:
			t.refused++
		default:
			t.writes[call]++
		}
	}
}
