package command

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance"
)

// update writes what is printed into testdata, instead of comparing it.
var update = flag.Bool("update", false, "write the files of testdata anew")

// sample has a result of each kind, and something left.
func sample() conformance.Report {
	check := func(name string) conformance.Check {
		return conformance.Check{
			Name:  name,
			Wants: "the key of a VM that was deleted answers 410, whatever the body",
			Where: "mockprovider/openapi.yaml#/components/responses/Gone",
		}
	}
	return conformance.Report{
		Endpoint: "https://vms.example.com",
		Capabilities: provider.Capabilities{
			Identity: "account-7", Offered: []string{provider.CapabilityIdempotency, provider.CapabilityList},
		},
		Results: []conformance.Result{
			{Check: check("minimum/create"), Verdict: conformance.Passed, Took: 1234 * time.Microsecond},
			{
				Check: check("idempotency/spent-key"), Verdict: conformance.Failed, Took: 2 * time.Second,
				Problem: `POST /vms with the key of a deleted VM: status 201 instead of 410`,
			},
			{Check: check("resize/both"), Verdict: conformance.Skipped, Problem: "the provider does not offer resize"},
		},
		Left: []string{"the VM vm-1, named conformance-a-1, is left: <it> & that"},
	}
}

func show(t *testing.T, out output) {
	t.Helper()
	report := sample()
	out.Discovered(report.Capabilities)
	for _, result := range report.Results {
		out.Started(result.Check)
		out.Finished(result)
	}
	if err := out.finish(report); err != nil {
		t.Error(err)
	}
}

func TestARunIsPrintedAsItIsAskedFor(t *testing.T) {
	t.Parallel()
	for file, output := range map[string]string{
		"table.txt": outputTable, "report.json": outputJSON, "junit.xml": outputJUnit,
	} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			s := settings{output: output, options: conformance.Options{Endpoint: sample().Endpoint}}
			show(t, s.outputTo(&stdout, &stderr))
			path := filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(path, stdout.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), stdout.String()); diff != "" {
				t.Error(diff)
			}
			beside := ""
			if output != outputTable {
				beside = "left: the VM vm-1, named conformance-a-1, is left: <it> & that\nconformance: 1 passed, 1 failed, 1 skipped\n"
			}
			if diff := cmp.Diff(beside, stderr.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATerminalShowsWhatIsUnderWayUntilItIsOver(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	live := table{out: &out, live: true}
	result := sample().Results[0]
	live.Started(result.Check)
	live.Finished(result)
	want := "minimum/create              ...\r\x1b[Kminimum/create              pass\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTheTableHasRoomForEveryName(t *testing.T) {
	t.Parallel()
	for _, check := range conformance.Checks() {
		if len(check.Name) > nameWidth {
			t.Errorf("%s is longer than %d", check.Name, nameWidth)
		}
	}
}
