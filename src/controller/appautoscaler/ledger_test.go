package appautoscaler_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// clock is the controller's time, which a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now is the controller's time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) step(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

var errRefused = errors.New("refused by a test")

// ledger counts what the controller does, and can make its writes to Deployments
// fail.
type ledger struct {
	mu      sync.Mutex
	writes  []string
	passes  int
	failing bool
}

func (l *ledger) write(verb string, object client.Object) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, status := object.(*exampleappsv1.AppAutoscaler)
	if l.failing && !status {
		return errRefused
	}
	l.writes = append(l.writes, fmt.Sprintf("%s %T", verb, object))
	return nil
}

func (l *ledger) fail(failing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing = failing
}

// seen returns the number of passes, and of writes.
func (l *ledger) seen() (passes, writes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passes, len(l.writes)
}

func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.writes...)
}

func (l *ledger) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			if _, pass := object.(*exampleappsv1.AppAutoscaler); pass {
				l.mu.Lock()
				l.passes++
				l.mu.Unlock()
			}
			return c.Get(ctx, key, object, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			if err := l.write("create", object); err != nil {
				return err
			}
			return c.Create(ctx, object, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			verb := "update"
			if (&client.UpdateOptions{}).ApplyOptions(opts).DryRun != nil {
				verb = "ask"
			}
			if err := l.write(verb, object); err != nil {
				return err
			}
			return c.Update(ctx, object, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := l.write("patch", object); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			if err := l.write("delete", object); err != nil {
				return err
			}
			return c.Delete(ctx, object, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := l.write("patch "+sub, object); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, object, patch, opts...)
		},
	}
}
