// Command transitiontable prints, as Markdown, what the AppAutoscaler controller
// decides in every situation of its documentation.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "transitiontable:", err)
		os.Exit(1)
	}
}

const head = `# What the AppAutoscaler controller decides

Generated from the code by ` + "`make generate`" + `: do not edit. Each row is a situation that an AppAutoscaler can be in, what
the controller does next, the reason and message that the user reads, and when it looks again:

- Never: only an event leads to the next look. After an action, the pass goes on at once.
- Soon: within 10 seconds. Long: within 5 minutes, in case an event was missed.
- Turn: when a field that is fought over may be put back again, 5 minutes after the last time.

| Situation | Action | Reason | Message | Next look |
| --- | --- | --- | --- | --- |
`

func write(out *os.File) error {
	var table strings.Builder
	table.WriteString(head)
	for _, situation := range decide.Situations() {
		d := decide.Decide(situation.State)
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", situation.Name, d.Action, d.Reason, d.Message, d.After)
	}
	_, err := out.WriteString(table.String())
	return err
}
