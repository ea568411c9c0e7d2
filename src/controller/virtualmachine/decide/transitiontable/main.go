// Command transitiontable prints, as Markdown, what the VirtualMachine controller
// decides in every situation of its documentation.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "transitiontable:", err)
		os.Exit(1)
	}
}

const head = `# What the controller decides

Generated from the code by ` + "`make generate`" + `: do not edit. Each row is a situation that a VirtualMachine can be in,
what the controller does next, the reason and message that the user reads, and when it looks again:

- Never: only an event leads to the next look; after an action, the pass goes on at once.
- Soon: in about two seconds. Poll: after the ProviderConfig's pollInterval. Long: after an hour, in case an event was missed.
- Settle: every two seconds until absence counts. Recreate: when every other VM of the provider has been looked at.
- Backoff: after one second, twice as long after every further failure, at most a minute. Turn: when the rate limit,
  or the provider's Retry-After, lets the next call through.

| Situation | Action | Reason | Message | Next look |
| --- | --- | --- | --- | --- |
`

func write(out *os.File) error {
	var table strings.Builder
	table.WriteString(head)
	for _, situation := range decide.Situations() {
		d := decide.Decide(situation.State)
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", situation.Name, d.Action, d.Reason, cell(d.Message), d.After)
	}
	_, err := out.WriteString(table.String())
	return err
}

// cell keeps a message in its cell.
func cell(message string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;").Replace(message)
}
