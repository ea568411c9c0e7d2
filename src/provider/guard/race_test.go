package guard_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/guard"
)

// ailing is a provider of which only every third call is answered, and that counts
// how many are under way at once.
type ailing struct {
	provider.Client

	calls, flying, most atomic.Int64
	mu                  sync.Mutex
}

func (a *ailing) Get(context.Context, string) (provider.Machine, error) {
	flying := a.flying.Add(1)
	defer a.flying.Add(-1)
	a.mu.Lock()
	a.most.Store(max(a.most.Load(), flying))
	a.mu.Unlock()
	if a.calls.Add(1)%3 != 0 {
		return provider.Machine{}, &provider.Error{Class: provider.Transient, Err: errors.New("it is ill")}
	}
	return provider.Machine{}, nil
}

// A crowd at providers that fail, and workers that take whoever is woken: nobody is
// forgotten, and no provider gets more calls at once than its share.
func TestNobodyIsForgottenWhateverTheTiming(t *testing.T) {
	t.Parallel()
	const workers, share, crowd = 8, 2, 200
	// Time goes on with every look at it.
	var looks atomic.Int64
	now := func() time.Time { return time.Unix(0, 0).Add(time.Duration(looks.Add(1)) * 10 * time.Millisecond) }
	bulkhead := guard.NewBulkhead(workers, now)
	queue := workqueue.NewTyped[string]()
	bulkhead.Listen(queue.Add)
	clients, behind := map[string]*guard.Client{}, map[string]*ailing{}
	var left sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		behind[name] = &ailing{}
		clients[name] = guard.New(behind[name], guard.Options{Now: now, Bulkhead: bulkhead, Provider: name})
		for number := range crowd {
			left.Add(1)
			queue.Add(fmt.Sprintf("%s-%d", name, number))
		}
	}
	work := func() {
		for caller, over := queue.Get(); !over; caller, over = queue.Get() {
			end := bulkhead.Begin(caller)
			ctx := provider.WithCallInfo(context.Background(), provider.CallInfo{Caller: caller, Worker: true})
			switch _, err := clients[caller[:1]].Get(ctx, "vm-1"); {
			case err == nil:
				left.Done()
			case provider.RetryAfterOf(err) < 5*time.Minute:
				queue.Add(caller)
			}
			end()
			queue.Done(caller)
		}
	}
	for range workers {
		go work()
	}
	left.Wait()
	queue.ShutDown()
	for name, provider := range behind {
		if most := provider.most.Load(); most > share {
			t.Errorf("%s got %d calls at once, more than %d", name, most, share)
		}
	}
}
