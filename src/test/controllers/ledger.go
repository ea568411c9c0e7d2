package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Ledger has the writes of controllers, and can make some fail. The zero value is
// ready for use.
type Ledger struct {
	mu     sync.Mutex
	writes []string
	fault  func(write string) error
	gets   map[string]int
}

// Gets is how often objects of a kind were read one by one, as every pass does
// first: "*v1.Deployment".
func (l *Ledger) Gets(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gets[kind]
}

func (l *Ledger) get(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gets == nil {
		l.gets = map[string]int{}
	}
	l.gets[kind]++
}

// Writes are all that were tried, in order: "create *v1.Deployment", "patch
// *v1.MyApp status", "apply Deployment". A dry run is "ask *v1.Deployment".
func (l *Ledger) Writes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.writes)
}

// Fail makes those writes fail for which fault returns an error; nil ends it.
func (l *Ledger) Fail(fault func(write string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = fault
}

func (l *Ledger) record(parts ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	write := strings.Join(parts, " ")
	l.writes = append(l.writes, write)
	if l.fault != nil {
		return l.fault(write)
	}
	return nil
}

func kind(object any) string { return fmt.Sprintf("%T", object) }

func (l *Ledger) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			l.get(kind(object))
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := l.record("create", kind(object)); err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			verb := "update"
			if (&client.UpdateOptions{}).ApplyOptions(options).DryRun != nil {
				verb = "ask"
			}
			if err := l.record(verb, kind(object)); err != nil {
				return err
			}
			return c.Update(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := l.record("patch", kind(object)); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if err := l.record("apply", object.(interface{ GetKind() string }).GetKind()); err != nil { //nolint:forcetypeassert // all that is applied has a kind
				return err
			}
			return c.Apply(ctx, object, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if err := l.record("delete", kind(object)); err != nil {
				return err
			}
			return c.Delete(ctx, object, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			if err := l.record("patch", kind(object), sub); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
	}
}
