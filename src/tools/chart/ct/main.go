// Command ct is chart-testing: its module cannot be installed by its path, for its
// replacements hold in a main module only.
package main

import "github.com/helm/chart-testing/v3/ct/cmd"

func main() { cmd.Execute() }
