package myapp

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/contention"
	"github.com/example/vmoperator/src/controller/myapp/decide"
	"github.com/example/vmoperator/src/controller/podtrouble"
	"github.com/example/vmoperator/src/controller/workload"
	"github.com/example/vmoperator/src/test/statuses"
)

func TestTheStatusOfEverySituationIsRecorded(t *testing.T) {
	pods := map[decide.Pods]string{
		decide.PodsAvailable: "", decide.PodsProgressing: "; Pods are being started", decide.PodsInTrouble: "; a Pod is in trouble",
	}
	var all []statuses.Record
	for _, situation := range decide.Situations() {
		for each := decide.PodsAvailable; each <= decide.PodsInTrouble; each++ {
			state := situation.State
			if state.Pods == decide.PodsAvailable {
				state.Pods = each
			}
			decision := decide.Decide(state)
			if decision.Ends() {
				all = append(all,
					record(situation.Name+pods[each], state, decision, nil),
					record(situation.Name+pods[each]+"; Ready before", state, decision, statuses.Before(exampleappsv1.ReasonAvailable)))
			}
		}
	}
	statuses.Check(t, "MyApp", statuses.Distinct(all))
}

// record is a MyApp in a situation, with the conditions that it had before.
func record(name string, s decide.State, d decide.Decision, before []metav1.Condition) statuses.Record {
	object := &exampleappsv1.MyApp{ObjectMeta: metav1.ObjectMeta{Name: "it", Namespace: "vms", Generation: statuses.Generation}}
	object.Status.ObservedGeneration = -1
	if len(before) > 0 {
		object.Status.ObservedGeneration, object.Status.Conditions = statuses.Generation, before
	}
	if s.Deleting {
		object.DeletionTimestamp = new(metav1.NewTime(statuses.Time()))
		// The API server counts the deletion, and no status is written any more.
		object.Generation++
	}
	seen := &memories{failures: workload.ToldFailures, refused: &refusal{message: "the API's words"}}
	if s.Deployment.State == decide.ChildHeld {
		seen.corrections, seen.other = *contention.Resumed(statuses.Time()), "somebody"
	}
	p := &pass{app: object, now: statuses.Time(), seen: seen}
	if s.Fault {
		p.fault = errors.New("the connection was refused")
	}
	if s.Pods == decide.PodsInTrouble {
		p.trouble = podtrouble.Trouble{Reason: "ImagePullBackOff", Message: "a message"}
	}
	next := nextStatus(p, s, d)
	return statuses.Record{
		Situation: name, Meaning: meaning(s, d, next.ObservedGeneration), Deleting: s.Deleting,
		ObservedGeneration: next.ObservedGeneration, Conditions: statuses.Conditions(next.Conditions),
	}
}

// meaning is what a tool should make of the situation.
func meaning(s decide.State, d decide.Decision, observed int64) statuses.Meaning {
	switch {
	case observed != statuses.Generation:
		return statuses.Unseen
	case d.Action == decide.Stall:
		return statuses.Stuck
	case s.Deleting, d.Action == decide.Wait:
		return statuses.Working
	case s.Paused:
		return statuses.Resting
	}
	return statuses.Done
}
