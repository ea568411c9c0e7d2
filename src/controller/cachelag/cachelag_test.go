package cachelag_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/vmoperator/src/controller/cachelag"
)

func at(version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
}

func TestAnOlderVersionThanOurOwnWriteIsBehind(t *testing.T) {
	var lag cachelag.Lag
	if lag.Behind(at("9")) {
		t.Error("behind, though nothing was written")
	}
	lag.Wrote(at("10"))
	for version, want := range map[string]bool{"9": true, "10": false, "11": false} {
		if got := lag.Behind(at(version)); got != want {
			t.Errorf("version %s: %t, want %t", version, got, want)
		}
	}
}

func TestTheWaitForTheCacheDoublesUpToABoundUntilItIsOver(t *testing.T) {
	var lag cachelag.Lag
	last := time.Duration(0)
	for range 20 {
		next := lag.Again().RequeueAfter
		if next < last || next > 5*time.Second {
			t.Errorf("%s after %s", next, last)
		}
		last = next
	}
	if last != 5*time.Second {
		t.Errorf("the longest is %s", last)
	}
	lag.Over()
	if got := lag.Again().RequeueAfter; got != 20*time.Millisecond {
		t.Errorf("a new lag begins with %s", got)
	}
}

func TestAConflictMeansThatTheCacheIsBehind(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "web", errors.New("changed"))
	for err, want := range map[error]bool{
		cachelag.ErrBehind: true,
		fmt.Errorf("creating: %w", cachelag.ErrBehind): true,
		conflict:                true,
		errors.New("no answer"): false,
	} {
		if got := cachelag.Is(err); got != want {
			t.Errorf("%v: %t, want %t", err, got, want)
		}
	}
}
