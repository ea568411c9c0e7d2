package crash

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// Harm is what went wrong at a point. The empty Harm is none.
type Harm string

// The harms.
const (
	// Leaked is a VM whose object is gone, or lacks the finalizer that keeps it.
	Leaked Harm = "leaked"
	// Duplicated is a second live VM of one object.
	Duplicated Harm = "duplicated"
	// Stuck is an end other than the undisturbed run's, or no end to the writes.
	Stuck Harm = "stuck"
	// Strayed is a DELETE for a VM whose object is not being deleted.
	Strayed Harm = "strayed"
	// Unasked is a Deployment as nobody wants it, be it for a moment.
	Unasked Harm = "unasked"
	// Untrue is an event that tells of what did not happen.
	Untrue Harm = "untrue"
)

// Result is what came of one point.
type Result struct {
	Scenario string
	Kind     Kind
	Point    string
	// Reached is false if the effect did not occur, so that nothing was tried.
	Reached bool
	// Harm is the first that was seen.
	Harm Harm
}

// Report collects results. The zero value is empty.
type Report struct {
	mu      sync.Mutex
	rows    []row
	results []Result
}

type row struct {
	scenario string
	kind     Kind
	effects  int
}

// Recorded adds an undisturbed run.
func (r *Report) Recorded(scenario string, kind Kind, effects int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row{scenario, kind, effects})
}

// Tried adds the result of a point.
func (r *Report) Tried(result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, result)
}

// Write writes the table, with the scenarios in their order, what was not reached,
// and the line that counts all.
func (r *Report) Write(out io.Writer, scenarios []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "scenario\tprovider\teffects recorded\tpoints tried\tnot reached\tfailed")
	for _, scenario := range scenarios {
		for _, kind := range Kinds() {
			r.writeRow(table, scenario, kind)
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	for _, result := range r.results {
		if !result.Reached && result.Harm == "" {
			fmt.Fprintf(out, "not reached: %s/%s/%s\n", result.Scenario, result.Kind, result.Point)
		}
	}
	for _, rare := range []struct {
		harm Harm
		text string
	}{
		{Strayed, "DELETEs for another's VM"}, {Unasked, "Deployments as nobody wants them"}, {Untrue, "events of what did not happen"},
	} {
		if count := r.count(func(result Result) bool { return result.Harm == rare.harm }); count > 0 {
			fmt.Fprintf(out, "%s: %d\n", rare.text, count)
		}
	}
	_, err := fmt.Fprintln(out, r.summary())
	return err
}

func (r *Report) writeRow(out io.Writer, scenario string, kind Kind) {
	index := slices.IndexFunc(r.rows, func(row row) bool { return row.scenario == scenario && row.kind == kind })
	if index < 0 {
		return
	}
	count := func(matches func(Result) bool) int {
		return r.count(func(result Result) bool {
			return result.Scenario == scenario && result.Kind == kind && matches(result)
		})
	}
	fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%d\t%d\n", scenario, kind, r.rows[index].effects,
		count(func(result Result) bool { return result.Reached }),
		count(func(result Result) bool { return !result.Reached }),
		count(func(result Result) bool { return result.Harm != "" }))
}

func (r *Report) summary() string {
	var text strings.Builder
	fmt.Fprintf(&text, "crash points: %d tried", r.count(func(result Result) bool { return result.Reached }))
	for _, harm := range []Harm{Leaked, Duplicated, Stuck} {
		fmt.Fprintf(&text, ", %d %s", r.count(func(result Result) bool { return result.Harm == harm }), harm)
	}
	return text.String()
}

func (r *Report) count(matches func(Result) bool) int {
	n := 0
	for _, result := range r.results {
		if matches(result) {
			n++
		}
	}
	return n
}
