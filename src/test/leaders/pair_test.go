package leaders

import (
	"context"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/operator"
	"github.com/example/vmoperator/src/test/scene"
)

// timing is that of a leader's lease.
type timing struct{ lease, renew, retry time.Duration }

func (l timing) flags() []string {
	return []string{
		"--leader-elect", "--leader-elect-lease-duration=" + l.lease.String(),
		"--leader-elect-renew-deadline=" + l.renew.String(), "--leader-elect-retry-period=" + l.retry.String(),
	}
}

// pair is two operators of one release: the first leads, the second stands by.
type pair struct {
	home          string
	first, second *operator.Operator
	// front stands before the first, back before the second.
	front, back *interpose.Proxy
	// requests holds what the first asks the apiserver, and answers what it is told.
	requests, answers *scene.Switchboard
}

// startPair returns when the first leads and the second's caches are ready.
func startPair(t *testing.T, lease timing, namespaces ...string) *pair {
	t.Helper()
	p := &pair{home: scene.Namespace(t, kube), requests: &scene.Switchboard{}, answers: &scene.Switchboard{}}
	next, err := interpose.Apiserver(plane.Config, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.front = scene.Proxy(t, interpose.Options{Who: "first", Next: scene.AnsweringLate(next, p.answers), Classify: interpose.Kubernetes, Hook: p.requests.Decide})
	p.back = scene.Proxy(t, interpose.Options{Who: "second", Next: next, Classify: interpose.Kubernetes})
	args := append(lease.flags(),
		"--watch-namespaces="+strings.Join(append(namespaces, p.home), ","), "--leader-election-namespace="+p.home,
		"--allow-endpoint-cidrs=127.0.0.0/8", "--zap-log-level=debug",
		// One worker for each object that is stopped in the middle of something.
		"--max-concurrent-reconciles=30",
	)
	p.first = operator.Start(t, operator.Options{Executable: executable, Config: p.front.Config(), Args: args, Silent: true})
	p.first.WantLine("Successfully acquired lease")
	p.second = operator.Start(t, operator.Options{Executable: executable, Config: p.back.Config(), Args: args, Silent: true})
	p.second.WantProbe("/readyz", 200)
	return p
}

// leader is who holds the lease; empty if nobody does.
func (p *pair) leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := kube.Get(ctx, types.NamespacedName{Namespace: p.home, Name: "vmoperator-leader"}, lease)
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	return *lease.Spec.HolderIdentity, nil
}

func (p *pair) wantLeader(t *testing.T) string {
	t.Helper()
	holder, err := p.leader(t.Context())
	if err != nil || holder == "" {
		t.Fatalf("the lease is held by %q, %v", holder, err)
	}
	return holder
}

// succeeded waits until somebody else than one leader holds the lease.
func (p *pair) succeeded(t *testing.T, leader string) {
	t.Helper()
	operator.WaitFor(t, "another leader", func(ctx context.Context) bool {
		holder, err := p.leader(ctx)
		return err == nil && holder != "" && holder != leader
	})
}
