package workloads

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// ledger has what the controllers have written, and how often each has looked.
type ledger struct {
	mu     sync.Mutex
	writes []string
	looks  map[string]int
}

func (l *ledger) wrote(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = append(l.writes, fmt.Sprintf(format, args...))
}

func (l *ledger) looked(object client.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch object.(type) {
	case *exampleappsv1.AppAutoscaler, *exampleappsv1.MyApp:
		l.looks[fmt.Sprintf("%T", object)]++
	}
}

func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.writes)
}

// counts says how often each controller has begun to look.
func (l *ledger) counts() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.looks)
}

// client is one that keeps the ledger.
func (l *ledger) client(config *rest.Config, options client.Options) (client.Client, error) {
	base, err := client.NewWithWatch(config, options)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(base, l.funcs()), nil
}

func (l *ledger) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			l.looked(object)
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			l.wrote("create %T", object)
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			l.wrote("update %T", object)
			return c.Update(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			l.wrote("patch %T", object)
			return c.Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			l.wrote("apply %v", object)
			return c.Apply(ctx, object, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			l.wrote("delete %T", object)
			return c.Delete(ctx, object, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			l.wrote("patch %T %s", object, sub)
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
	}
}
