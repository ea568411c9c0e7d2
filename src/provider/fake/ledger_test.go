package fake_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

// TestTheLedgerTellsEveryEffect: whatever is called and fails, the VMs that exist
// are those that the ledger says were made and not deleted, one for each key.
func TestTheLedgerTellsEveryEffect(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := full()
		t.Repeat(map[string]func(*rapid.T){
			"fault": func(t *rapid.T) {
				p.Inject(fake.Fault{
					When:  rapid.SampledFrom([]fake.When{fake.Before, fake.After}).Draw(t, "when"),
					Class: provider.Class(rapid.IntRange(int(provider.Transient), int(provider.Conflict)).Draw(t, "class")),
					Skip:  rapid.IntRange(0, 2).Draw(t, "skip"),
				})
			},
			"create": func(t *rapid.T) {
				_, err := p.Create(context.Background(), rapid.StringMatching(`k[1-4]`).Draw(t, "key"), order)
				last := p.Ledger()[len(p.Ledger())-1]
				if last.Class != provider.ClassOf(err) {
					t.Fatalf("the ledger says %s, the caller got %v", last.Class, err)
				}
			},
			"delete": func(t *rapid.T) {
				id := fmt.Sprintf("vm-%d", rapid.IntRange(1, 6).Draw(t, "id"))
				if err := p.Delete(context.Background(), id); err != nil && provider.ClassOf(err) == 0 {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				live := map[string]bool{}
				made := map[string]int{}
				for _, entry := range p.Ledger() {
					switch {
					case !entry.Effect:
					case entry.Op == provider.OperationCreate:
						live[entry.ID] = true
						made[entry.Key]++
					default:
						delete(live, entry.ID)
					}
				}
				for key, count := range made {
					if count > 1 {
						t.Fatalf("%s made %d VMs", key, count)
					}
				}
				for _, machine := range p.Live() {
					if !live[machine.ID] {
						t.Fatalf("%s lives, and the ledger does not know", machine.ID)
					}
					delete(live, machine.ID)
				}
				if len(live) > 0 {
					t.Fatalf("the ledger has what does not live: %v", live)
				}
			},
		})
	})
}
