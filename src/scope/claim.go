package scope

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// hold claims a namespace, again and again until ctx ends.
func (s *Scope) hold(ctx context.Context, namespace string) {
	// The lock tells what there is to tell; the elector would repeat it each time.
	quiet := klog.NewContext(ctx, logr.Discard())
	for ctx.Err() == nil {
		elector, err := s.elector(namespace)
		if err != nil {
			s.set(namespace, Refused, err.Error())
			return
		}
		elector.Run(quiet)
		if ctx.Err() == nil && s.state(namespace) == Watched {
			s.set(namespace, Refused, "the claim could not be renewed in time")
		}
	}
}

func (s *Scope) elector(namespace string) (*leaderelection.LeaderElector, error) {
	lock := &claim{scope: s, namespace: namespace, LeaseLock: resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: LeaseName},
		Client:     s.options.Client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: s.options.Identity},
	}}
	if namespace == "" {
		lock.LeaseMeta.Namespace = s.options.Home
	}
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		Name:          LeaseName + "/" + namespace,
		LeaseDuration: s.options.Timing.Claim,
		RenewDeadline: s.options.Timing.RenewDeadline,
		RetryPeriod:   s.options.Timing.Renew,
		// Stop is called when the work is done.
		ReleaseOnCancel: s.options.Sole,
		// What a beginning and an end mean depends on why: the lock reports the one, in
		// order with what stands in its way, and hold the other.
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
}

// claim is a lock whose holder is a release: to the elector, each of its pods is
// the leader. It reports that it is held, and what stands in the way.
type claim struct {
	resourcelock.LeaseLock
	scope     *Scope
	namespace string
	foreign   bool
	// held says that the elector has had the claim.
	held bool
	// unmade says that the claim is held without a Lease.
	unmade bool
}

var (
	errForeign = errors.New("the claim is another release's by now")
	errUnmade  = errors.New("there is no lease in a namespace that is being deleted")
)

// Get implements resourcelock.Interface. A holder other than us is reported at
// once: the elector would go on for the whole renew deadline.
func (c *claim) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := c.LeaseLock.Get(ctx)
	c.unmade = c.unmade && err != nil
	c.foreign = err == nil && record.HolderIdentity != "" && record.HolderIdentity != c.Identity()
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		c.blocked(ctx, err)
	case c.foreign:
		c.scope.set(c.namespace, Foreign, fmt.Sprintf("release %s works there", record.HolderIdentity))
	}
	return record, raw, err
}

// Create implements resourcelock.Interface. In a namespace that is being deleted
// nobody can make a claim any more, and its VMs must still be finished.
func (c *claim) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := c.LeaseLock.Create(ctx, record)
	c.unmade = apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	if err != nil && !c.unmade {
		c.blocked(ctx, err)
		return err
	}
	c.hold(record)
	return nil
}

// Update implements resourcelock.Interface. The elector gives a lock back that it
// last saw as its own, although it has just read that another holds it; and it
// renews what it has without a look, which a claim without a Lease needs.
func (c *claim) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if c.unmade {
		return errUnmade
	}
	if c.foreign && record.HolderIdentity == "" {
		return errForeign
	}
	err := c.LeaseLock.Update(ctx, record)
	switch {
	case err == nil:
		c.hold(record)
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
	default:
		c.blocked(ctx, err)
	}
	return err
}

// hold reports a claim that was made or renewed, not one that was given back.
func (c *claim) hold(record resourcelock.LeaderElectionRecord) {
	if record.HolderIdentity != c.Identity() {
		return
	}
	c.held = true
	c.scope.set(c.namespace, Watched, "")
}

// blocked reports an error of a claim that is not held. One that is held is lost
// only when the renew deadline has passed.
func (c *claim) blocked(ctx context.Context, err error) {
	if ctx.Err() == nil && !c.held {
		c.scope.set(c.namespace, Refused, fmt.Sprintf("no claim: %v", err))
	}
}
