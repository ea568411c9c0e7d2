package main

import (
	"strings"
	"testing"
)

func TestTheTableHasAColumnForEachNumberOfObjects(t *testing.T) {
	t.Parallel()
	more := good()
	more.Objects, more.Memory.SettledBytes = 4, 2<<20+6<<10
	got := tables(figures{Machine: machine{Cores: 2}, AppAutoscalers: []measurement{good(), more}})
	for _, want := range []string{
		"| AppAutoscalers | 2 | 4 |\n|---|---:|---:|\n",
		"| create: time, ratio to the floor | 1.50 | 1.50 |\n",
		"| create: work, ratio to the floor | 1.25 | 1.25 |\n",
		"| create: `create deployments` for each | 1.00 | 0.50 |\n",
		"| drift: reads for each | 1.00 | 0.50 |\n",
		"| steady state: share of one core | 1.00 % | 1.00 % |\n",
		"| memory: settled, for each object more than 2 | - | 3.0 KiB |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}
