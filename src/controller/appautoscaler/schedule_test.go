package appautoscaler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

const peak = 10 * time.Hour

// morning is an hour before the window of peaks opens.
var morning = time.Date(2026, time.December, 1, 7, 0, 0, 0, time.UTC)

// peaks has 10 Pods from 08:00 to 18:00.
func peaks(a *exampleappsv1.AppAutoscaler) {
	a.Spec.Schedules = append(a.Spec.Schedules, exampleappsv1.AppAutoscalerSchedule{
		Name: "peak", Cron: "0 8 * * *", Duration: &metav1.Duration{Duration: peak}, Replicas: new(int32(10)),
	})
}

// nights has one Pod from 22:00 to 06:00, by the clock in Berlin.
func nights(a *exampleappsv1.AppAutoscaler) {
	a.Spec.Schedules = append(a.Spec.Schedules, exampleappsv1.AppAutoscalerSchedule{
		Name: "night", Cron: "0 22 * * *", TimeZone: "Europe/Berlin", Duration: &metav1.Duration{Duration: 8 * time.Hour}, Replicas: new(int32(1)),
	})
}

// at sets the clock, which goes on from there.
func (w *world) at(now time.Time) { w.clock.Step(now.Sub(w.clock.Now())) }

// plans waits until status.schedule is this one.
func (w *world) plans(name string, want *exampleappsv1.AppAutoscalerScheduleStatus) {
	w.t.Helper()
	w.eventually("status.schedule", func() string { return cmp.Diff(want, w.get(name).Status.Schedule) })
}

// change is what a schedule will do, as the status tells it.
func change(at time.Time, replicas int32, inForce ...string) *exampleappsv1.AppAutoscalerScheduleChange {
	return &exampleappsv1.AppAutoscalerScheduleChange{Time: new(metav1.NewTime(at)), InForce: inForce, Replicas: &replicas}
}

func TestAScheduleSetsTheNumberOfReplicasWhileItsWindowIsOpen(t *testing.T) {
	w := newWorld(t)
	w.at(morning)
	w.autoscaler("order", 5, nights, peaks)
	w.wants(5, image)
	w.plans("order", &exampleappsv1.AppAutoscalerScheduleStatus{Replicas: new(int32(5)), Next: change(morning.Add(time.Hour), 10, "peak")})

	w.clock.Step(time.Hour)
	w.wants(10, image)
	w.tells("order", "ScheduleChanged", "replicas 5 -> 10, by schedule peak")
	w.plans("order", &exampleappsv1.AppAutoscalerScheduleStatus{
		InForce: []string{"peak"}, Replicas: new(int32(10)), Next: change(morning.Add(time.Hour+peak), 5),
	})

	w.scale(2)
	w.wants(10, image)
	w.tells("order", "ReplicasPutBack", "replicas 2 -> 10, set by kubectl via scale")

	w.clock.Step(peak)
	w.wants(5, image)
	w.tells("order", "ScheduleChanged", "replicas 10 -> 5, schedule peak is over")
	w.plans("order", &exampleappsv1.AppAutoscalerScheduleStatus{Replicas: new(int32(5)), Next: change(time.Date(2026, time.December, 1, 21, 0, 0, 0, time.UTC), 1, "night")})
	if notes := w.notes("order", "ReplicasPutBack"); len(notes) != 1 {
		t.Errorf("schedules are told as changes that somebody made: %q", notes)
	}
}

func TestTheStateTellsOfAScheduleAndNothingIsWrittenMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	w.at(morning)
	w.autoscaler("order", 1, func(a *exampleappsv1.AppAutoscaler) {
		peaks(a)
		a.Spec.Schedules[0].Replicas = new(int32(2))
	})
	w.reaches("order", exampleappsv1.StateAligned)
	w.clock.Step(time.Hour)
	w.look("order")
	w.reaches("order", exampleappsv1.StateScheduled)
	w.look("order")
	before := len(w.ledger.Writes())
	for range 5 {
		w.clock.Step(time.Hour)
		w.look("order")
	}
	w.restart()
	w.look("order")
	w.look("order")
	if all := w.ledger.Writes()[before:]; len(all) > 0 {
		t.Errorf("written while the same schedule was in force: %q", all)
	}
	if notes := w.notes("order", "ScheduleChanged"); len(notes) != 1 {
		t.Errorf("told more than once: %q", notes)
	}
	w.clock.Step(peak)
	w.look("order")
	w.wants(1, image)
	w.reaches("order", exampleappsv1.StateAligned)
}

// All Pods are available and nothing else happens: only the clock passes the change.
func TestTheControllerLooksAgainWhenAScheduleChanges(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	w.at(morning.Add(time.Hour - 5*time.Second))
	w.autoscaler("order", 1, func(a *exampleappsv1.AppAutoscaler) {
		peaks(a)
		a.Spec.Schedules[0].Replicas = new(int32(2))
	})
	w.wants(2, image)
	w.reaches("order", exampleappsv1.StateScheduled)
}

func TestAWindowThatClocksJumpOverOpensAtTheJump(t *testing.T) {
	w := newWorld(t)
	jump := time.Date(2027, time.March, 28, 1, 0, 0, 0, time.UTC)
	w.at(jump.Add(-time.Hour))
	w.autoscaler("order", 5, func(a *exampleappsv1.AppAutoscaler) {
		peaks(a)
		a.Spec.Schedules[0].Cron, a.Spec.Schedules[0].TimeZone = "30 2 * * *", "Europe/Berlin"
	})
	w.wants(5, image)
	w.plans("order", &exampleappsv1.AppAutoscalerScheduleStatus{Replicas: new(int32(5)), Next: change(jump, 10, "peak")})
	w.clock.Step(time.Hour)
	w.wants(10, image)
	w.plans("order", &exampleappsv1.AppAutoscalerScheduleStatus{InForce: []string{"peak"}, Replicas: new(int32(10)), Next: change(jump.Add(peak), 5)})
}

func TestADeploymentIsCreatedWithTheNumberThatCounts(t *testing.T) {
	w := newWorld(t)
	w.at(morning.Add(2 * time.Hour))
	w.autoscaler("order", 5, peaks)
	w.tells("order", "Created", "Deployment order-service created with replicas 10")
	w.tells("order", "ScheduleChanged", "replicas 5 -> 10, by schedule peak")
	w.edit("order", func(a *exampleappsv1.AppAutoscaler) { a.Spec.Schedules[0].Replicas = new(int32(12)) })
	w.wants(12, image)
	w.tells("order", "ReplicasPutBack", "replicas 10 -> 12, as declared")
	w.edit("order", func(a *exampleappsv1.AppAutoscaler) { a.Spec.Schedules = nil })
	w.wants(5, image)
	w.plans("order", nil)
}

// Nobody is blamed for a number that was right until the schedule changed.
func TestAScheduleBlamesNobodyForTheNumberThatCountedBefore(t *testing.T) {
	w := newWorld(t)
	w.at(morning)
	w.existing(5)
	w.autoscaler("order", 5, peaks)
	w.has("order", exampleappsv1.ConditionSynced, metav1.ConditionTrue, exampleappsv1.ReasonSynced)
	w.clock.Step(time.Hour)
	w.wants(10, image)
	w.tells("order", "ScheduleChanged", "replicas 5 -> 10, by schedule peak")
	if notes := w.notes("order", "ReplicasPutBack"); len(notes) > 0 {
		t.Errorf("somebody is blamed: %q", notes)
	}
}

func TestAScheduleThatIsNotUnderstoodLeavesTheNumberOfReplicas(t *testing.T) {
	w := newWorld(t)
	w.at(morning)
	w.existing(3)
	w.autoscaler("order", 5, peaks, func(a *exampleappsv1.AppAutoscaler) {
		a.Spec.Image, a.Spec.Schedules[0].TimeZone = image, "Europe/Berlinn"
	})
	stalled := w.has("order", exampleappsv1.ConditionStalled, metav1.ConditionTrue, exampleappsv1.ReasonInvalidSchedule)
	for _, words := range []string{"schedule peak", "Europe/Berlinn", "write a name of the IANA time zone database in timeZone"} {
		if !strings.Contains(stalled.Message, words) {
			t.Errorf("the message is %q, without %q", stalled.Message, words)
		}
	}
	w.tells("order", exampleappsv1.ReasonInvalidSchedule, "schedule peak")
	w.reaches("order", exampleappsv1.StateFailed)
	w.wants(3, image)

	w.edit("order", func(a *exampleappsv1.AppAutoscaler) { a.Spec.Schedules[0].TimeZone = "Europe/Berlin" })
	w.wants(10, image)
	w.has("order", exampleappsv1.ConditionStalled, "", "")
}

func TestAScheduleSetsTheBoundsOfAHorizontalPodAutoscaler(t *testing.T) {
	w := newWorld(t)
	w.kubelet(running)
	w.at(morning)
	w.autoscaler("order", 3, between(2, 9), peaks, func(a *exampleappsv1.AppAutoscaler) {
		a.Spec.Schedules[0].Replicas, a.Spec.Schedules[0].MinReplicas, a.Spec.Schedules[0].MaxReplicas = nil, new(int32(3)), new(int32(30))
	})
	w.scaler("order", bounded(2, 9))
	w.reaches("order", exampleappsv1.StateAutoscaling)
	w.plans("order", &exampleappsv1.AppAutoscalerScheduleStatus{
		MinReplicas: new(int32(2)), MaxReplicas: new(int32(9)),
		Next: &exampleappsv1.AppAutoscalerScheduleChange{
			Time: new(metav1.NewTime(morning.Add(time.Hour))), InForce: []string{"peak"}, MinReplicas: new(int32(3)), MaxReplicas: new(int32(30)),
		},
	})

	w.clock.Step(time.Hour)
	w.look("order")
	w.scaler("order", bounded(3, 30))
	w.reaches("order", exampleappsv1.StateScheduled)
	w.tells("order", "ScheduleChanged", "minReplicas 2 -> 3, maxReplicas 9 -> 30, by schedule peak")
	if notes := w.notes("order", "ScalerPutBack"); len(notes) > 0 {
		t.Errorf("the schedule is told twice: %q", notes)
	}
	w.rescale("order", "kubectl-edit", func(s *autoscalingv2.HorizontalPodAutoscaler) { s.Spec.MaxReplicas = 50 })
	w.scaler("order", bounded(3, 30))
	w.tells("order", "ScalerPutBack", "HorizontalPodAutoscaler order: maxReplicas 50 -> 30, set by kubectl-edit")

	w.clock.Step(peak)
	w.look("order")
	w.scaler("order", bounded(2, 9))
	w.reaches("order", exampleappsv1.StateAutoscaling)
	w.tells("order", "ScheduleChanged", "minReplicas 3 -> 2, maxReplicas 30 -> 9, schedule peak is over")
	if got := *w.deployment().Spec.Replicas; got != 3 {
		t.Errorf("%d replicas, want those that it began with: the HorizontalPodAutoscaler sets them", got)
	}
}

func TestAPausedObjectHasNoScheduleInForce(t *testing.T) {
	w := newWorld(t)
	w.at(morning)
	w.autoscaler("order", 5, peaks)
	w.wants(5, image)
	w.pause("order", "true")
	w.reaches("order", exampleappsv1.StatePaused)
	w.clock.Step(time.Hour)
	w.change("kubectl-edit", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) })
	w.eventually("status.replicas", func() string {
		if got := w.get("order").Status.Replicas; got != 7 {
			return fmt.Sprintf("is %d, want 7: it is observed all the same", got)
		}
		return ""
	})
	w.plans("order", nil)
	w.wants(7, image)
	w.pause("order", "false")
	w.wants(10, image)
	w.tells("order", "ReplicasPutBack", "replicas 7 -> 10, set by kubectl-edit")
}
