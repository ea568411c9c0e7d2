// Command transitions writes, as Markdown, what each controller decides in every
// situation of its documentation, into the directory that it is given.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: transitions DIRECTORY")
		os.Exit(2)
	}
	for _, page := range pages() {
		if err := os.WriteFile(filepath.Join(os.Args[1], page.file), page.markdown(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "transitions:", err)
			os.Exit(1)
		}
	}
}

// page is the table of one controller.
type page struct {
	file string
	// kind is what the controller works on, with its article.
	kind string
	// delays explain when the controller looks again, one in each entry.
	delays []string
	rows   []row
}

// row is one situation and what is decided in it.
type row struct{ situation, action, reason, message, after string }

func (p page) markdown() []byte {
	var text strings.Builder
	fmt.Fprintf(&text, `# What the controller decides about %s

Generated from the code by %s: do not edit. Each row is a situation that %s can be in, what
the controller does next, the reason and message that the user reads, and when it looks again:

`, p.kind, "`make generate`", p.kind)
	for _, delay := range p.delays {
		fmt.Fprintf(&text, "- %s\n", delay)
	}
	text.WriteString("\n| Situation | Action | Reason | Message | Next look |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range p.rows {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", r.situation, r.action, r.reason, cell(r.message), r.after)
	}
	return []byte(text.String())
}

// cell keeps a message in its cell.
func cell(message string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;").Replace(message)
}
