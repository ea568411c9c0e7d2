// Command faulttable prints, as Markdown, what every failure of a provider leads
// to: the rows that the system tests try.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/example/vmoperator/src/test/faults"
)

func main() {
	if _, err := os.Stdout.WriteString(text(faults.Table())); err != nil {
		fmt.Fprintln(os.Stderr, "faulttable:", err)
		os.Exit(1)
	}
}

const head = `# When a provider fails

Generated from the code by ` + "`make generate`" + `: do not edit. Each row is tried by the system tests, with the operator and
the mock provider as processes: what the provider does, what the operator takes it for, what the VirtualMachine shows
meanwhile, which Warning events are told, how often each, when the call is repeated, and what ends it. A failure that
passes needs nothing of anybody; the others are explained in [troubleshooting](../troubleshooting.md) and, for whoever is
woken by them, in [runbooks](../runbooks.md).

A provider of the minimum has the three required endpoints; a full one has every capability of the
[contract](../provider-contract.md). However it ends, there is one VM for the object, and none once it is deleted.
`

func text(rows []faults.Row) string {
	var page strings.Builder
	page.WriteString(head)
	for _, stage := range []faults.Stage{faults.Creating, faults.Looking, faults.Resizing, faults.Deleting, faults.Finding} {
		fmt.Fprintf(&page, "\n## `%s`: %s\n\n", stage, meanings[stage])
		page.WriteString("| The provider | offers | Class | Conditions meanwhile | Warnings | Repeated | What ends it |\n")
		page.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
		for i := range rows {
			if row := &rows[i]; row.During == stage {
				fmt.Fprintf(&page, "| %s | %s | %s | %s | %s | %s | %s |\n",
					row.Name, row.At, row.Class, conditions(row), warnings(row), pace(row), ends(row))
			}
		}
	}
	return page.String()
}

var meanings = map[faults.Stage]string{
	faults.Creating: "a VM is made",
	faults.Looking:  "a running VM is looked at",
	faults.Resizing: "cpu or memory is changed",
	faults.Deleting: "a VM is deleted",
	faults.Finding:  "a VM is deleted whose id was never told",
}

func conditions(row *faults.Row) string {
	shown := make([]string, 0, len(row.Shows))
	for _, c := range row.Shows {
		shown = append(shown, fmt.Sprintf("%s=%s %#q", c.Type, c.Status, c.Reason))
	}
	return orDash(strings.Join(shown, ", "))
}

func warnings(row *faults.Row) string {
	told := make([]string, 0, len(row.Warns))
	for reason, count := range row.Warns {
		told = append(told, fmt.Sprintf("%d %#q", count, reason))
	}
	slices.Sort(told)
	return orDash(strings.Join(told, ", "))
}

func pace(row *faults.Row) string {
	if row.Pace == faults.AfterPause {
		return fmt.Sprintf("%s, %s at least", row.Pace, row.Pause)
	}
	return orDash(string(row.Pace))
}

func ends(row *faults.Row) string {
	if row.Ends == faults.Passes {
		return "it passes"
	}
	return "a person: " + string(row.Ends)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
