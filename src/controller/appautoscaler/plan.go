package appautoscaler

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/schedule"
)

// plan is which of the spec's and the schedules' numbers count at the time of a
// pass. Nothing else knows of schedules.
type plan struct {
	numbers

	// next are the numbers that count from change on. The zero change means that none
	// is known.
	next   numbers
	change time.Time
	// invalid is what cannot be understood of the schedules. The numbers are only those
	// of the spec then.
	invalid error
}

// numbers are the numbers that count at some time.
type numbers struct {
	// inForce are the names of the schedules that set one of the numbers.
	inForce  []string
	replicas int32
	// least and most are the bounds of a HorizontalPodAutoscaler; zero without one.
	least, most int32
}

// planned is the plan of a spec at a time.
func planned(spec *exampleappsv1.AppAutoscalerSpec, now time.Time) plan {
	schedules, err := parsed(spec.Schedules)
	if err != nil {
		return plan{numbers: declared(spec), invalid: err}
	}
	force, change := schedules.At(now)
	p := plan{numbers: resolved(spec, force), change: change}
	if !change.IsZero() {
		next, _ := schedules.At(change)
		p.next = resolved(spec, next)
	}
	return p
}

// parsed are the schedules, ready to be asked. An error says which of them cannot be
// understood, and what to write.
func parsed(all []exampleappsv1.AppAutoscalerSchedule) (schedule.Plan, error) {
	result := make(schedule.Plan, 0, len(all))
	for i := range all {
		s := &all[i]
		window, err := schedule.Parse(s.Cron, s.TimeZone, s.Duration.Duration)
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", s.Name, err)
		}
		result = append(result, schedule.Entry{
			Name: s.Name, Window: window, Replicas: s.Replicas, MinReplicas: s.MinReplicas, MaxReplicas: s.MaxReplicas,
		})
	}
	return result, nil
}

// declared are the spec's own numbers.
func declared(spec *exampleappsv1.AppAutoscalerSpec) numbers { return resolved(spec, schedule.Force{}) }

// resolved are the spec's numbers, with those of the schedules that are in force in
// their stead. Of bounds that cross, the higher one counts.
func resolved(spec *exampleappsv1.AppAutoscalerSpec, force schedule.Force) numbers {
	var n numbers
	pick := func(setting schedule.Setting, otherwise int32) int32 {
		if setting.By == "" {
			return otherwise
		}
		if !slices.Contains(n.inForce, setting.By) {
			n.inForce = append(n.inForce, setting.By)
		}
		return setting.Number
	}
	n.replicas = pick(force.Replicas, *spec.Replicas)
	if spec.MaxReplicas == nil {
		return n
	}
	least := int32(1)
	if spec.MinReplicas != nil {
		least = *spec.MinReplicas
	}
	n.least, n.most = pick(force.MinReplicas, least), pick(force.MaxReplicas, *spec.MaxReplicas)
	n.most = max(n.most, n.least)
	return n
}

// until shortens a wait that would miss the next change.
func (p plan) until(wait time.Duration, now time.Time) time.Duration {
	if wait == 0 || p.change.IsZero() {
		return wait
	}
	return min(wait, max(p.change.Sub(now), soonest))
}

// status tells of the plan. A status has whole seconds.
func (p plan) status() *exampleappsv1.AppAutoscalerScheduleStatus {
	status := &exampleappsv1.AppAutoscalerScheduleStatus{InForce: p.inForce}
	status.Replicas, status.MinReplicas, status.MaxReplicas = p.shown()
	if !p.change.IsZero() {
		next := &exampleappsv1.AppAutoscalerScheduleChange{Time: new(metav1.NewTime(p.change.Truncate(time.Second))), InForce: p.next.inForce}
		next.Replicas, next.MinReplicas, next.MaxReplicas = p.next.shown()
		status.Next = next
	}
	return status
}

// shown are the numbers that count, be it replicas or bounds.
func (n numbers) shown() (replicas, least, most *int32) {
	if n.most > 0 {
		return nil, &n.least, &n.most
	}
	return &n.replicas, nil, nil
}
