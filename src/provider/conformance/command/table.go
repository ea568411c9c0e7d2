package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance"
)

// clearLine takes back what stands on a terminal's line.
const clearLine = "\r\x1b[K"

// nameWidth is that of the longest name of a check.
const nameWidth = 26

// words are the results, all of one width.
var words = map[conformance.Verdict]string{
	conformance.Passed: "pass", conformance.Failed: "FAIL", conformance.Skipped: "skip",
}

// table prints a row for each check as soon as it has ended. On a terminal it
// shows before which one is under way.
type table struct {
	out      io.Writer
	endpoint string
	live     bool
}

// Discovered implements conformance.Observer.
func (t *table) Discovered(capabilities provider.Capabilities) {
	offered := "the minimum"
	if len(capabilities.Offered) > 0 {
		offered = strings.Join(capabilities.Offered, ", ")
	}
	fmt.Fprintf(t.out, "%s offers %s\n\n", t.endpoint, offered)
}

// Started implements conformance.Observer.
func (t *table) Started(check conformance.Check) {
	if t.live {
		fmt.Fprintf(t.out, "%-*s  ...", nameWidth, check.Name)
	}
}

// Finished implements conformance.Observer.
func (t *table) Finished(result conformance.Result) {
	if t.live {
		fmt.Fprint(t.out, clearLine)
	}
	row := fmt.Sprintf("%-*s  %s", nameWidth, result.Check.Name, words[result.Verdict])
	switch result.Verdict {
	case conformance.Passed:
		fmt.Fprintln(t.out, row)
	case conformance.Skipped:
		fmt.Fprintf(t.out, "%s  %s\n", row, result.Problem)
	case conformance.Failed:
		fmt.Fprintf(t.out, "%s  %s\n", row, result.Problem)
		fmt.Fprintf(t.out, "%*s  wanted: %s\n", nameWidth+6, "", result.Check.Wants)
		fmt.Fprintf(t.out, "%*s  see:    %s\n", nameWidth+6, "", result.Check.Where)
	}
}

func (t *table) finish(report conformance.Report) error {
	fmt.Fprintln(t.out)
	for _, left := range report.Left {
		fmt.Fprintf(t.out, "left: %s\n", left)
	}
	_, err := fmt.Fprintln(t.out, summary(&report))
	return err
}

func isTerminal(out io.Writer) bool {
	file, isFile := out.(*os.File)
	return isFile && term.IsTerminal(int(file.Fd()))
}
