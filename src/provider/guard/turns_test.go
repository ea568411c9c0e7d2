package guard

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

func TestTurnsOfCallersThatNeverComeAgainAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	client := New(fake.New(fake.Options{}), Options{QPS: 100, Burst: 1, Now: func() time.Time { return now }})
	call := func(caller string) {
		ctx := provider.WithCallInfo(context.Background(), provider.CallInfo{Caller: caller})
		if _, err := client.Get(ctx, "vm-1"); err == nil {
			t.Error("there is no such VM")
		}
	}
	for i := range 1000 {
		call(fmt.Sprint(i))
	}
	if len(client.turns.byCaller) != 999 {
		t.Fatalf("%d turns, want 999", len(client.turns.byCaller))
	}
	now = now.Add(10*time.Second + turnKept + time.Millisecond)
	call("another")
	if len(client.turns.byCaller) != 0 || len(client.turns.queue) != 0 {
		t.Errorf("%d turns of %d are left", len(client.turns.byCaller), len(client.turns.queue))
	}
}
