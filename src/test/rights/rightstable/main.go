// Command rightstable prints, as Markdown, the rights that the chart gives and what
// each is for.
package main

import (
	"fmt"
	"os"

	"github.com/example/vmoperator/src/test/rights"
)

func main() {
	if _, err := os.Stdout.WriteString(rights.Page()); err != nil {
		fmt.Fprintln(os.Stderr, "rightstable:", err)
		os.Exit(1)
	}
}
