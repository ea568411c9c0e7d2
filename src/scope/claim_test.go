package scope_test

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/scope"
)

func TestASecondReleaseStaysOutOfAClaimedNamespace(t *testing.T) {
	shared, own := namespace(t), namespace(t)
	for _, name := range []string{"first", "second"} {
		grant(t, name, shared, rules(""))
		grant(t, name, own, rules(""))
	}
	start(t, "first", quick, shared).wantSettled(t, shared)

	second := start(t, "second", quick, shared, own)
	second.wantSettled(t, own)
	if got := second.state(shared); got != scope.Foreign {
		t.Errorf("the shared namespace is %s, want %s", got, scope.Foreign)
	}
}

func TestAClaimThatIsNotRenewedIsTakenOver(t *testing.T) {
	shared, own := namespace(t), namespace(t)
	for _, name := range []string{"gone", "heir"} {
		grant(t, name, shared, rules(""))
		grant(t, name, own, rules(""))
	}
	brief := scope.Timing{Review: quick.Review, Claim: 2 * time.Second, RenewDeadline: time.Second, Renew: quick.Renew}
	first := start(t, "gone", brief, shared)
	first.wantSettled(t, shared)
	first.Stop()

	heir := start(t, "heir", quick, shared, own)
	settled := heir.wantSettled(t, own)
	heir.wantChange(t, settled, scope.ErrGained)
}

func TestThePodsOfOneReleaseShareItsClaim(t *testing.T) {
	place := namespace(t)
	grant(t, "replicated", place, rules(""))
	pods := []*release{start(t, "replicated", quick, place), start(t, "replicated", quick, place)}
	settled := pods[0].wantSettled(t, place)
	pods[1].wantSettled(t, place)

	// Each renews what the other wrote, some dozen times.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	for _, pod := range pods {
		if err := pod.Watch(ctx, settled); err != nil {
			t.Error(err)
		}
	}
}

func TestAReleaseThatLostItsClaimIsToldAtOnce(t *testing.T) {
	place := namespace(t)
	grant(t, "loser", place, rules(""))
	loser := start(t, "loser", quick, place)
	settled := loser.wantSettled(t, place)

	rob(t, place)
	began := time.Now()
	loser.wantChange(t, settled, scope.ErrLost)
	if took := time.Since(began); took > quick.RenewDeadline {
		t.Errorf("it took %s: two releases worked there", took)
	}
}

func TestAReleaseThatWatchesAllWaitsForTheClaimsOfOthers(t *testing.T) {
	place := namespace(t)
	grant(t, "single", place, rules(""))
	single := start(t, "single", quick, place)
	single.wantSettled(t, place)

	grantEverywhere(t, "all")
	everywhere := start(t, "all", quick)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := everywhere.Settle(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want to wait while another release works somewhere", err)
	}
	if got := everywhere.state(""); got != scope.Foreign {
		t.Errorf("all namespaces are %s, want %s", got, scope.Foreign)
	}

	single.Stop()
	leases, err := admin.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + scope.LeaseName})
	if err != nil {
		t.Fatal(err)
	}
	for i := range leases.Items {
		if err := admin.CoordinationV1().Leases(leases.Items[i].Namespace).Delete(t.Context(), scope.LeaseName, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	everywhere.wantSettled(t, "")
}

func TestAReleaseOfOnePodGivesItsClaimBack(t *testing.T) {
	place := namespace(t)
	grant(t, "next", place, rules(""))
	grant(t, "alone", place, rules(""))
	alone := startWith(t, "alone", quick, func(o *scope.Options) { o.Sole = true }, place)
	alone.wantSettled(t, place)
	alone.Stop()
	start(t, "next", quick, place).wantSettled(t, place)
}

func TestAReleaseDoesNotGiveBackWhatIsAnothers(t *testing.T) {
	place := namespace(t)
	grant(t, "robbed", place, rules(""))
	robbed := startWith(t, "robbed", quick, func(o *scope.Options) { o.Sole = true }, place)
	settled := robbed.wantSettled(t, place)
	rob(t, place)
	robbed.wantChange(t, settled, scope.ErrLost)
	robbed.Stop()

	lease, err := admin.CoordinationV1().Leases(place).Get(t.Context(), scope.LeaseName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := *lease.Spec.HolderIdentity; got != "winner" {
		t.Errorf("the holder is %q, want the one that took it", got)
	}
}

// The claim cannot be made there, nor can another release make one.
func TestANamespaceThatIsBeingDeletedIsWorkedInWithoutALease(t *testing.T) {
	place := namespace(t)
	grant(t, "finisher", place, rules(""))
	if err := admin.CoreV1().Namespaces().Delete(t.Context(), place, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reported := make(chan scope.State, 100)
	finisher := startWith(t, "finisher", quick, func(o *scope.Options) {
		o.Report = func(_ string, state scope.State) { reported <- state }
	}, place)
	settled := finisher.wantSettled(t, place)

	// It is renewed some dozen times.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := finisher.Watch(ctx, settled); err != nil {
		t.Error(err)
	}
	finisher.Stop()
	close(reported)
	for state := range reported {
		if state != scope.Watched {
			t.Errorf("it was %s for a while", state)
		}
	}
}

// rob makes another release the holder of a claim.
func rob(t *testing.T, namespace string) {
	t.Helper()
	patch := []byte(`{"spec":{"holderIdentity":"winner"}}`)
	leases := admin.CoordinationV1().Leases(namespace)
	if _, err := leases.Patch(t.Context(), scope.LeaseName, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
