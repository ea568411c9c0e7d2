package appautoscaler

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// peaks is a spec with one schedule, whose window opens at 08:00.
func peaks() *exampleappsv1.AppAutoscalerSpec {
	return &exampleappsv1.AppAutoscalerSpec{
		Replicas: new(int32(5)),
		Schedules: []exampleappsv1.AppAutoscalerSchedule{{
			Name: "peak", Cron: "0 8 * * *", Duration: &metav1.Duration{Duration: 90500 * time.Millisecond}, Replicas: new(int32(10)),
		}},
	}
}

func TestAWaitEndsWhenTheScheduleChanges(t *testing.T) {
	t.Parallel()
	eight := time.Date(2026, time.December, 1, 8, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		now        time.Time
		wait, want time.Duration
	}{
		"a long wait is cut short":            {eight.Add(-time.Minute), time.Hour, time.Minute},
		"a short wait is left":                {eight.Add(-time.Minute), time.Second, time.Second},
		"who waits for an event goes on so":   {eight.Add(-time.Minute), 0, 0},
		"a change that has come is met soon":  {eight, time.Hour, soonest},
		"so is one that passed in the course": {eight.Add(time.Second), time.Hour, soonest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := planned(peaks(), eight.Add(-time.Hour)).until(test.wait, test.now); got != test.want {
				t.Errorf("wait %s, want %s", got, test.want)
			}
		})
	}
}

func TestWithoutSchedulesAWaitIsLeft(t *testing.T) {
	t.Parallel()
	if got := planned(&exampleappsv1.AppAutoscalerSpec{Replicas: new(int32(5))}, time.Now()).until(time.Hour, time.Now()); got != time.Hour {
		t.Errorf("wait %s, want %s", got, time.Hour)
	}
}

// A status that differs from what is stored of it would be written in every pass.
func TestTheStatusHasWholeSeconds(t *testing.T) {
	t.Parallel()
	status := planned(peaks(), time.Date(2026, time.December, 1, 8, 0, 30, 0, time.UTC)).status()
	if got := status.Next.Time.Format(time.RFC3339Nano); got != "2026-12-01T08:01:30Z" {
		t.Errorf("the next change is told as %s", got)
	}
}

func TestTheHigherOfBoundsThatCrossCounts(t *testing.T) {
	t.Parallel()
	spec := peaks()
	spec.MinReplicas, spec.MaxReplicas = new(int32(2)), new(int32(9))
	spec.Schedules[0].Replicas, spec.Schedules[0].MinReplicas = nil, new(int32(12))
	n := planned(spec, time.Date(2026, time.December, 1, 8, 0, 0, 0, time.UTC)).numbers
	if n.least != 12 || n.most != 12 {
		t.Errorf("%d to %d replicas, want 12 to 12", n.least, n.most)
	}
}

func TestAScheduleThatSetsBothBoundsIsNamedOnce(t *testing.T) {
	t.Parallel()
	spec := peaks()
	spec.MaxReplicas = new(int32(9))
	spec.Schedules[0].Replicas, spec.Schedules[0].MinReplicas, spec.Schedules[0].MaxReplicas = nil, new(int32(12)), new(int32(20))
	status := planned(spec, time.Date(2026, time.December, 1, 8, 0, 0, 0, time.UTC)).status()
	if diff := cmp.Diff([]string{"peak"}, status.InForce); diff != "" || status.Replicas != nil || *status.Next.MinReplicas != 1 {
		t.Errorf("%s %+v", diff, status)
	}
}

func TestAScheduleThatCannotBeUnderstoodIsNamed(t *testing.T) {
	t.Parallel()
	spec := peaks()
	spec.Schedules[0].Cron = "61 8 * * *"
	if err := planned(spec, time.Now()).invalid; err == nil || !strings.HasPrefix(err.Error(), `schedule peak: "61 8 * * *" cannot be read`) {
		t.Errorf("the error is %v", err)
	}
}
