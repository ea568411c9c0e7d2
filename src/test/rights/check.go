package rights

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Depth says what a log is expected to show.
type Depth string

// The depths.
const (
	// Common expects what every life of a VM uses, of the parts that were installed.
	Common Depth = "common"
	// Full expects every right, but those that are never used.
	Full Depth = "full"
)

// Report is what a log says about the rights.
type Report struct {
	// Parts are all rights of the chart.
	Parts []Part
	// Uses counts the calls that used a right.
	Uses map[Right]int
	// Calls counts all calls of the chart's service accounts.
	Calls int
	// Refused counts calls, by what they were, that were refused though the chart has
	// a rule: it was not there yet, or not any more.
	Refused map[string]int
	// Faults say what is wrong: rights that are missing, too many or not the chart's.
	Faults []string
}

// Err is the faults, or nil.
func (r *Report) Err() error {
	all := make([]error, 0, len(r.Faults))
	for _, fault := range r.Faults {
		all = append(all, errors.New(fault))
	}
	return errors.Join(all...)
}

// Check holds rights against an audit log of JSON lines, of Metadata level at
// least. The grants are those of every installation whose calls the log has. It
// fails if the log cannot be read; what is wrong with the rights is in the report.
func Check(log io.Reader, grants []Grant, depth Depth) (*Report, error) {
	calls, err := readCalls(log)
	if err != nil {
		return nil, err
	}
	report := &Report{Parts: Parts(), Uses: map[Right]int{}, Refused: map[string]int{}}
	allowed := map[kindOfCall]bool{}
	for call, count := range calls {
		report.Calls += count
		if !call.Refused {
			allowed[kindOf(call)] = true
			report.use(call, count)
		}
	}
	for call, count := range calls {
		report.judge(call, count, grants, allowed)
	}
	for i := range report.Parts {
		report.expect(&report.Parts[i], depth)
	}
	slices.Sort(report.Faults)
	report.Faults = slices.Compact(report.Faults)
	return report, nil
}

// use counts a call to the rights that it fits.
func (r *Report) use(call Call, count int) {
	for _, part := range r.Parts {
		for i := range part.Purposes {
			for _, right := range part.Purposes[i].Rights() {
				if right.fits(call) {
					r.Uses[right] += count
				}
			}
		}
	}
}

// kindOfCall is what calls of one holder have in common that the same rule allows.
type kindOfCall struct {
	holder                Holder
	home                  string
	group, resource, verb string
	everywhere            bool
}

func kindOf(call Call) kindOfCall {
	return kindOfCall{call.Holder, call.Home, call.Group, call.Resource, call.Verb, call.Namespace == ""}
}

// judge finds the fault of a call. A refusal is none where the chart has a rule: it
// was not there yet, or not any more. But where the call is to all namespaces, the
// rule may be another release's: only one that has worked for this holder counts.
func (r *Report) judge(call Call, count int, grants []Grant, allowed map[kindOfCall]bool) {
	covered := slices.ContainsFunc(grants, func(g Grant) bool { return g.covers(call) })
	inNamespace := slices.ContainsFunc(grants, func(g Grant) bool { return !g.Everywhere && g.covers(call) })
	switch {
	case !call.Refused && !covered && !call.forEveryone():
		r.fault("%s: allowed, and not by the chart", call)
	case call.Refused && (inNamespace || call.Namespace == "" && allowed[kindOf(call)]):
		r.Refused[call.String()] += count
	case call.Refused:
		r.fault("%s: refused, a right is missing", call)
	}
}

// expect finds rights that were not used. A part of which nothing was used was not
// installed, or nobody has tried it.
func (r *Report) expect(part *Part, depth Depth) {
	if depth == Common && len(part.Values) > 0 && r.used(part) == 0 {
		return
	}
	for i := range part.Purposes {
		purpose := &part.Purposes[i]
		if purpose.Holder == People {
			continue
		}
		for _, right := range purpose.Rights() {
			used := r.Uses[right] > 0
			switch {
			case used && purpose.Seen == Never && depth == Full:
				r.fault("%s: used, and said to be never", right)
			case !used && (purpose.Seen == Always || purpose.Seen == Rarely && depth == Full):
				r.fault("%s: not used, a right too many", right)
			}
		}
	}
}

// used counts the rights of a part that were used.
func (r *Report) used(part *Part) int {
	count := 0
	for i := range part.Purposes {
		for _, right := range part.Purposes[i].Rights() {
			if r.Uses[right] > 0 {
				count++
			}
		}
	}
	return count
}

func (r *Report) fault(format string, values ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, values...))
}
