package appautoscaler

import (
	"fmt"
	"slices"
	"strings"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/happening"
)

// told are the numbers that a status tells of. What it does not tell is as the spec
// declares.
func told(spec *exampleappsv1.AppAutoscalerSpec, status *exampleappsv1.AppAutoscalerScheduleStatus) numbers {
	n := declared(spec)
	if status == nil {
		return n
	}
	n.inForce = status.InForce
	switch {
	case n.most == 0 && status.Replicas != nil:
		n.replicas = *status.Replicas
	case n.most > 0 && status.MinReplicas != nil && status.MaxReplicas != nil:
		n.least, n.most = *status.MinReplicas, *status.MaxReplicas
	}
	return n
}

// scheduled reports whether what differs is due to a schedule: others are in force
// than those that the last status tells of, and the field still has the number of
// those. Nobody has set it, and the change of schedules is told with the status.
func (c change) scheduled(p *pass) bool {
	was := told(&p.autoscaler.Spec, p.autoscaler.Status.Schedule)
	if slices.Equal(was.inForce, p.plan.inForce) {
		return false
	}
	number, known := map[string]int32{fieldReplicas: was.replicas, fieldLeast: was.least, fieldMost: was.most}[c.field]
	return known && c.from == fmt.Sprint(number)
}

// planTurn tells of a change of the schedules in force, if there was one.
func (p *pass) planTurn(before, after *exampleappsv1.AppAutoscalerScheduleStatus) []happening.Happening {
	was, is := told(&p.autoscaler.Spec, before), told(&p.autoscaler.Spec, after)
	if after == nil || slices.Equal(was.inForce, is.inForce) {
		return nil
	}
	why := "schedule " + strings.Join(was.inForce, ", ") + " is over"
	if len(is.inForce) > 0 {
		why = "by schedule " + strings.Join(is.inForce, ", ")
	}
	h := happening.Happening{Reason: reasonScheduleChanged, Note: strings.Join(append(was.differences(is), why), ", ")}
	// Without a Deployment there is nothing to be about: a nil pointer would be something.
	if p.deployment != nil {
		h.About = p.deployment
	}
	return []happening.Happening{h}
}

// differences are the numbers that become others, for people.
func (n numbers) differences(next numbers) []string {
	var all []string
	for _, number := range []struct {
		field    string
		from, to int32
	}{{fieldReplicas, n.replicas, next.replicas}, {fieldLeast, n.least, next.least}, {fieldMost, n.most, next.most}} {
		if number.from != number.to {
			all = append(all, fmt.Sprintf("%s %d -> %d", number.field, number.from, number.to))
		}
	}
	return all
}
