// Package cachelag knows when the cache is behind what this process has written,
// and when to look again.
package cachelag

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrBehind means that the cache is behind, or that somebody else wrote in
// between. It is no failure, and not told.
var ErrBehind = errors.New("the cache is behind")

// Is reports whether an error means that the cache is behind: ErrBehind, or a
// conflict.
func Is(err error) bool { return errors.Is(err, ErrBehind) || apierrors.IsConflict(err) }

const (
	// first is when to look again; it doubles up to most while the cache stays behind.
	first    = 20 * time.Millisecond
	most     = 5 * time.Second
	maxShift = 8
)

// Lag is how far the cache was behind with one object. The zero value is ready
// for use.
type Lag struct {
	version string
	count   int
}

// Wrote remembers an object as the apiserver returned it for a write.
func (l *Lag) Wrote(object client.Object) { l.version = object.GetResourceVersion() }

// Behind reports whether an object that was read is older than our own last write
// to it: deciding from it would end in a conflict at best.
func (l *Lag) Behind(read client.Object) bool {
	if l.version == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(read.GetResourceVersion(), l.version)
	return err == nil && order < 0
}

// Again looks again when the cache may have caught up.
func (l *Lag) Again() ctrl.Result {
	delay := min(first<<min(l.count, maxShift), most)
	l.count++
	return ctrl.Result{RequeueAfter: delay}
}

// Over is called when a pass has found the cache up to date.
func (l *Lag) Over() { l.count = 0 }
