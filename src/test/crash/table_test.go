package crash

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheTableCountsWhatWasTriedAndWhatWentWrong(t *testing.T) {
	var report Report
	report.Recorded("delete", Full, 4)
	report.Recorded("create", Minimal, 10)
	report.Recorded("drift", None, 2)
	for _, result := range []Result{
		{Scenario: "create", Kind: Minimal, Point: "a", Reached: true},
		{Scenario: "create", Kind: Minimal, Point: "b", Reached: true, Harm: Duplicated},
		{Scenario: "create", Kind: Minimal, Point: "c"},
		{Scenario: "delete", Kind: Full, Point: "d", Reached: true, Harm: Leaked},
		{Scenario: "delete", Kind: Full, Point: "e", Reached: true, Harm: Strayed},
		{Scenario: "delete", Kind: Full, Point: "f", Harm: Stuck},
		{Scenario: "drift", Kind: None, Point: "g", Reached: true, Harm: Unasked},
	} {
		report.Tried(result)
	}
	var out strings.Builder
	if err := report.Write(&out, []string{"create", "delete", "drift", "not run"}); err != nil {
		t.Fatal(err)
	}
	want := `scenario  provider  effects recorded  points tried  not reached  failed
create    minimal   10                2             1            1
delete    full      4                 2             1            3
drift     none      2                 1             0            1
not reached: create/minimal/c
DELETEs for another's VM: 1
Deployments as nobody wants them: 1
crash points: 5 tried, 1 leaked, 1 duplicated, 1 stuck
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
