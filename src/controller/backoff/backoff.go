// Package backoff is how long a failed reconcile waits before it is repeated.
package backoff

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	first = time.Second
	most  = time.Minute
)

// RateLimiter doubles the wait with every failure in a row of one object, from
// one second to one minute. A success forgets them.
func RateLimiter() workqueue.TypedRateLimiter[reconcile.Request] { return UpTo(most) }

// UpTo does the same, but waits no longer than most.
func UpTo(most time.Duration) workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, most)
}
