package scope_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example/vmoperator/src/scope"
)

func TestANamespaceThatMayNotBeReadDoesNotStopTheOthers(t *testing.T) {
	for name, missing := range map[string]string{"no-slices": "endpointslices", "no-leases": "leases", "no-secrets": "secrets"} {
		t.Run(name, func(t *testing.T) {
			good, bad := namespace(t), namespace(t)
			grant(t, name, good, rules(""))
			grant(t, name, bad, rules(missing))

			r := start(t, name, quick, good, bad)
			settled := r.wantSettled(t, good)
			if got := r.state(bad); got != scope.Refused {
				t.Errorf("the other namespace is %s, want %s", got, scope.Refused)
			}

			grant(t, name, bad, rules(""))
			r.wantChange(t, settled, scope.ErrGained)
		})
	}
}

func TestWithoutAnyRightTheOperatorWaitsForThem(t *testing.T) {
	place := namespace(t)
	r := start(t, "patient", quick, place)
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Settle(short); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want to wait until the context ends", err)
	}

	grant(t, "patient", place, rules(""))
	r.wantSettled(t, place)
}

func TestANamespaceThatDoesNotExistIsWaitedFor(t *testing.T) {
	grantEverywhere(t, "early")
	place := namespace(t)
	r := start(t, "early", quick, place, "comes-later")
	r.wantSettled(t, place)
	if got := r.state("comes-later"); got != scope.Refused {
		t.Errorf("the namespace is %s, want %s", got, scope.Refused)
	}
}

// The VMs of such a namespace must still be deleted, and nobody else can claim it.
func TestANamespaceThatIsBeingDeletedIsWorkedIn(t *testing.T) {
	place := namespace(t)
	grant(t, "finisher", place, rules(""))
	// Without a kube-controller-manager it stays as it is, being deleted.
	if err := admin.CoreV1().Namespaces().Delete(t.Context(), place, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	start(t, "finisher", quick, place).wantSettled(t, place)
}

func TestNothingIsReportedWhenTheContextEnds(t *testing.T) {
	place := namespace(t)
	grant(t, "calm", place, rules(""))
	r := start(t, "calm", quick, place)
	settled := r.wantSettled(t, place)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Watch(ended, settled); err != nil {
		t.Errorf("got %v, want nothing", err)
	}
}
