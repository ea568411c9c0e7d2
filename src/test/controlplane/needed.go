package controlplane

import "flag"

// Needed reports whether a test process is to run tests. One that only lists
// them, or only fuzzes (`make fuzz`), starts no control plane: its workers are
// processes of their own, and each would. A TestMain asks after flag.Parse.
func Needed() bool {
	value := func(name string) string {
		if found := flag.Lookup(name); found != nil {
			return found.Value.String()
		}
		return ""
	}
	fuzzes := value("test.fuzz") != "" && value("test.run") == "^$"
	return value("test.list") == "" && !fuzzes
}
