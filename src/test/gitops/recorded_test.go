package gitops

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/vmoperator/src/test/statuses"
)

// recorded calls a function with every status that was recorded of our kinds.
func recorded(t *testing.T, check func(*testing.T, statuses.Record, map[string]any)) {
	t.Helper()
	for _, kind := range kinds {
		records, err := statuses.Load(kind.kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			object, err := record.Object(kind.apiVersion, kind.kind)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(kind.kind+"/"+record.Situation, func(t *testing.T) { check(t, record, object) })
		}
	}
}

func TestArgoCDTakesEveryStatusForWhatIsMeant(t *testing.T) {
	means := map[statuses.Meaning]string{
		statuses.Unseen: progressing, statuses.Working: progressing, statuses.Stuck: degraded,
		statuses.Resting: healthy, statuses.Done: healthy,
	}
	recorded(t, func(t *testing.T, record statuses.Record, object map[string]any) {
		t.Helper()
		if got, want := healthOf(t, object).Status, means[record.Meaning]; got != want {
			t.Errorf("%s, want %s, of %v", got, want, record.Conditions)
		}
	})
}

func TestKstatusTakesEveryStatusForWhatIsMeant(t *testing.T) {
	means := map[statuses.Meaning]status.Status{
		statuses.Unseen: status.InProgressStatus, statuses.Working: status.InProgressStatus,
		statuses.Stuck: status.FailedStatus, statuses.Done: status.CurrentStatus,
	}
	recorded(t, func(t *testing.T, record statuses.Record, object map[string]any) {
		t.Helper()
		computed, err := status.Compute(&unstructured.Unstructured{Object: object})
		if err != nil {
			t.Fatal(err)
		}
		got, want := computed.Status, means[record.Meaning]
		switch {
		case record.Deleting:
			want = status.TerminatingStatus
		case record.Meaning == statuses.Resting && (got == status.CurrentStatus || got == status.InProgressStatus):
			// kstatus knows no pause: it goes by whether the object was Ready before.
			want = got
		}
		if got != want {
			t.Errorf("%s, want %s, of %v", got, want, record.Conditions)
		}
	})
}
