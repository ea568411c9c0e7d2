package leaders

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
	"github.com/example/vmoperator/src/test/scene"
)

// usual is the timing that the operator has without flags.
var usual = timing{lease: 15 * time.Second, renew: 10 * time.Second, retry: time.Second}

// margin is what is promised beyond the lease, or beyond the drain.
const margin = 5 * time.Second

// table is what was measured.
type table struct {
	mu   sync.Mutex
	rows []string
}

var figures table

func (f *table) add(what string, replaced, working, promised time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = append(f.rows, fmt.Sprintf("%s\t%.1fs\t%.1fs\t%.1fs", what, replaced.Seconds(), working.Seconds(), promised.Seconds()))
}

// write puts the figures where `make failover` shows them from.
func (f *table) write() error {
	if len(f.rows) == 0 {
		return nil
	}
	var text strings.Builder
	lines := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(lines, "the leader\tis replaced after\tmakes a VM after\tpromised")
	for _, row := range f.rows {
		fmt.Fprintln(lines, row)
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, "out"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "out", "failover.txt"), []byte(text.String()), 0o644)
}

// newPair is a pair with a scene that all is well in.
func newPair(t *testing.T) (*pair, *play) {
	t.Helper()
	s := newPlay(t, "all is well", story{timeout: held}, scene.Provider(t), false)
	s.under(startPair(t, usual, s.Namespace))
	s.showLogs()
	s.Ready()
	return s.pair, s
}

// madeAfter waits until the second has made a VM for the scene's object, and returns
// how long after begin that was.
func (s *play) madeAfter(begin time.Time) (working time.Duration) {
	s.T.Helper()
	s.Running()
	s.AwaitRequests("a POST", func(all []mockprovider.Request) bool {
		for _, request := range all {
			if request.Operation == "create" && request.Effect && request.Time.After(begin) {
				working = request.Time.Sub(begin)
			}
		}
		return working > 0
	})
	return working
}

func TestAKilledLeaderIsReplacedSoonAfterItsLease(t *testing.T) {
	t.Parallel()
	pair, s := newPair(t)
	leader := pair.wantLeader(t)
	begin := time.Now()
	pair.first.Kill()
	s.Make()
	pair.succeeded(t, leader)
	replaced, promised := time.Since(begin), usual.lease+margin
	figures.add(fmt.Sprintf("killed; its lease is %s", usual.lease), replaced, s.madeAfter(begin), promised)
	if replaced > promised {
		t.Errorf("replaced after %s, promised within %s", replaced, promised)
	}
}

func TestALeaderThatIsAskedToEndIsReplacedSoonAfterItsWork(t *testing.T) {
	t.Parallel()
	pair, s := newPair(t)
	leader := pair.wantLeader(t)
	s.holdCall(provider.OperationCreate)
	s.Make()
	s.Arrived(s.gate)
	begin := time.Now()
	pair.first.Terminate()
	pair.first.WantLine("Stopping and waiting for")
	s.triesOfSecond(3)
	if holder := pair.wantLeader(t); holder != leader {
		t.Errorf("%s leads while a POST of %s is under way", holder, leader)
	}
	s.open()
	pair.first.WantEnd()
	drain := time.Since(begin)
	pair.succeeded(t, leader)
	replaced, promised := time.Since(begin), drain+margin
	s.Running()
	s.WantPOSTs(1)
	s.Delete()
	s.Gone()
	s.Make()
	figures.add(fmt.Sprintf("asked to end; a POST takes it %.1fs", drain.Seconds()), replaced, s.madeAfter(begin), promised)
	if replaced > promised {
		t.Errorf("replaced after %s, promised within %s", replaced, promised)
	}
}

// triesOfSecond waits until the second has asked so many times for the lease.
func (s *play) triesOfSecond(more int) {
	s.T.Helper()
	count := func(all []interpose.Entry) int {
		tries := 0
		for _, entry := range all {
			if entry.Kind == interpose.Lease && entry.Name == "vmoperator-leader" {
				tries++
			}
		}
		return tries
	}
	record := s.pair.back.Record()
	want := count(record.Entries()) + more
	ctx, cancel := context.WithTimeout(s.T.Context(), operator.Patience)
	defer cancel()
	if err := record.Await(ctx, func(all []interpose.Entry) bool { return count(all) >= want }); err != nil {
		s.T.Fatal(err)
	}
}
