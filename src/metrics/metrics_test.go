package metrics

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

// TestEveryCollectorIsRegistered reads the package's source, for nothing else
// knows of a collector that was forgotten.
func TestEveryCollectorIsRegistered(t *testing.T) {
	t.Parallel()
	defined, registered := map[string]bool{}, map[string]bool{}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			switch declaration := declaration.(type) {
			case *ast.GenDecl:
				variables(declaration, defined)
			case *ast.FuncDecl:
				if declaration.Name.Name == "collectors" {
					names(declaration.Body, registered)
				}
			}
		}
	}
	if len(defined) == 0 {
		t.Fatal("no collector is found")
	}
	if diff := cmp.Diff(defined, registered); diff != "" {
		t.Errorf("defined and registered differ:\n%s", diff)
	}
}

// variables adds the names of package variables, which in this package are
// collectors all.
func variables(declaration *ast.GenDecl, to map[string]bool) {
	for _, spec := range declaration.Specs {
		if value, ok := spec.(*ast.ValueSpec); ok && declaration.Tok == token.VAR {
			for _, name := range value.Names {
				to[name.Name] = true
			}
		}
	}
}

// names adds the elements of the literal in a function.
func names(body *ast.BlockStmt, to map[string]bool) {
	ast.Inspect(body, func(node ast.Node) bool {
		if literal, ok := node.(*ast.CompositeLit); ok {
			for _, element := range literal.Elts {
				if name, ok := element.(*ast.Ident); ok {
					to[name.Name] = true
				}
			}
		}
		return true
	})
}

// The tests below share the collectors, and so do not run at the same time.

func TestTheMetricsAreAsPrometheusWantsThem(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	if err := Register(registry); err != nil {
		t.Fatal(err)
	}
	ProviderCallDuration.WithLabelValues("create", OutcomeOK).Observe(0.1)
	ProviderThrottled.WithLabelValues(ThrottledByLimit).Inc()
	ProviderConfigs{}.SetProviderConfig("team", "default", true, 3)
	ProviderConfigs{}.SetCircuit("team", "default", false)
	ProviderConfigs{}.SetOrphans("team", "default", 1, 2, 3)
	ProviderConfigs{}.SetLists("team", "default", time.Now(), 1)
	SetHeldBack("team", "default", 4)
	SetNamespace("team", "watched")
	CountLabelSet(true)
	CountVirtualMachines(func() []VirtualMachine { return []VirtualMachine{{Phase: provider.PhaseRunning}} })
	AppAutoscalerPutBack.WithLabelValues("replicas").Inc()
	CountAppAutoscalers(func() []exampleappsv1.AppAutoscalerState { return nil })
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	// virtualMachines shows two families, every other collector one.
	if want := len(collectors()) + 1; len(families) != want {
		t.Errorf("%d families, want %d: a collector shows nothing", len(families), want)
	}
	if err := Register(registry); err == nil {
		t.Error("collectors are registered twice without an error")
	}
}

func TestVirtualMachinesAreCountedByPhaseAndByWhatTheyAreStalledFor(t *testing.T) {
	CountVirtualMachines(func() []VirtualMachine {
		return []VirtualMachine{
			{},
			{Stalled: computev1.ReasonCreateAmbiguous},
			{Phase: provider.PhaseRunning, Stalled: computev1.ReasonChildConflict},
			{Phase: "Migrating", Stalled: "FromAnotherVersion"},
			{Phase: "Hibernating", Stalled: computev1.ReasonChildConflict},
			{Phase: provider.PhaseFailed},
		}
	})
	const want = `
# HELP vmoperator_virtualmachines Number of VirtualMachines, by the phase of their VM (None without one, Other for a phase that is not known).
# TYPE vmoperator_virtualmachines gauge
vmoperator_virtualmachines{phase="Deleting"} 0
vmoperator_virtualmachines{phase="Failed"} 1
vmoperator_virtualmachines{phase="None"} 2
vmoperator_virtualmachines{phase="Other"} 2
vmoperator_virtualmachines{phase="Provisioning"} 0
vmoperator_virtualmachines{phase="Running"} 1
vmoperator_virtualmachines{phase="Stopped"} 0
# HELP vmoperator_virtualmachines_stalled Number of VirtualMachines that only a person can help, by the reason of their Stalled condition.
# TYPE vmoperator_virtualmachines_stalled gauge
vmoperator_virtualmachines_stalled{reason="ChildConflict"} 2
vmoperator_virtualmachines_stalled{reason="CreateAmbiguous"} 1
vmoperator_virtualmachines_stalled{reason="CreateConflict"} 0
vmoperator_virtualmachines_stalled{reason="ForeignProvider"} 0
vmoperator_virtualmachines_stalled{reason="Other"} 1
vmoperator_virtualmachines_stalled{reason="Rejected"} 0
vmoperator_virtualmachines_stalled{reason="ResizeNotSupported"} 0
vmoperator_virtualmachines_stalled{reason="RestoredObject"} 0
`
	if err := testutil.CollectAndCompare(virtualMachines, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if count := testutil.CollectAndCount(newCounted()); count != 0 {
		t.Errorf("%d series before there is a list", count)
	}
}

func TestAppAutoscalersAreCountedByState(t *testing.T) {
	CountAppAutoscalers(func() []exampleappsv1.AppAutoscalerState {
		return []exampleappsv1.AppAutoscalerState{
			exampleappsv1.StateAligned, exampleappsv1.StateAligned, exampleappsv1.StateFailed, "", "FromAnotherVersion",
		}
	})
	for state, want := range map[string]float64{"Aligned": 2, "Failed": 1, "None": 1, "Other": 1, "Paused": 0} {
		want := fmt.Sprintf("vmoperator_appautoscalers{state=%q} %v\n", state, want)
		text, err := testutil.CollectAndFormat(appAutoscalers, expfmt.TypeTextPlain, "vmoperator_appautoscalers")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if count := testutil.CollectAndCount(newStates()); count != 0 {
		t.Errorf("%d series before there is a list", count)
	}
}

func TestListsAreShownByWhenTheLastWasCompleteAndHowManyFailedSince(t *testing.T) {
	gauges := ProviderConfigs{}
	before := testutil.CollectAndCount(providerConfigSnapshot)
	gauges.SetLists("team", "listed", time.Time{}, 1)
	if after := testutil.CollectAndCount(providerConfigSnapshot); after != before {
		t.Error("a list is shown though none was complete")
	}
	gauges.SetLists("team", "listed", time.UnixMilli(1500), 0)
	if value := testutil.ToFloat64(providerConfigSnapshot.WithLabelValues("team", "listed")); value != 1.5 {
		t.Errorf("the last complete list was begun at %v", value)
	}
	gauges.SetLists("team", "listed", time.UnixMilli(1500), 2)
	if value := testutil.ToFloat64(providerConfigFailedLists.WithLabelValues("team", "listed")); value != 2 {
		t.Errorf("%v lists have failed", value)
	}
	gauges.DeleteLists("team", "listed")
	if after := testutil.CollectAndCount(providerConfigSnapshot); after != before {
		t.Errorf("%d series, %d before", after, before)
	}
}

func TestTheSeriesOfAProviderConfigGoWithIt(t *testing.T) {
	gauges := ProviderConfigs{}
	gauges.SetProviderConfig("team", "aws", true, 50)
	gauges.SetProviderConfig("team", "azure", false, 100)
	if value := testutil.ToFloat64(providerConfigReady.WithLabelValues("team", "aws")); value != 1 {
		t.Errorf("ready is %v", value)
	}
	if value := testutil.ToFloat64(providerConfigVirtualMachines.WithLabelValues("team", "azure")); value != 100 {
		t.Errorf("virtualmachines is %v", value)
	}
	gauges.SetCircuit("team", "aws", true)
	gauges.SetCircuit("team", "azure", false)
	if value := testutil.ToFloat64(providerConfigCircuitOpen.WithLabelValues("team", "aws")); value != 1 {
		t.Errorf("the circuit is %v", value)
	}
	gauges.SetOrphans("team", "aws", 1, 2, 3)
	if value := testutil.ToFloat64(providerConfigOrphans.WithLabelValues("team", "aws", "duplicate")); value != 2 {
		t.Errorf("%v duplicates", value)
	}
	orphans := testutil.CollectAndCount(providerConfigOrphans)
	before := testutil.CollectAndCount(providerConfigReady)
	gauges.DeleteProviderConfig("team", "aws")
	if after := testutil.CollectAndCount(providerConfigReady); after != before-1 {
		t.Errorf("%d series, %d before", after, before)
	}
	if after := testutil.CollectAndCount(providerConfigOrphans); after != orphans-3 {
		t.Errorf("%d series of orphans, %d before", after, orphans)
	}
	if after := testutil.CollectAndCount(providerConfigCircuitOpen); after != before-1 {
		t.Errorf("%d series of circuits, %d before", after, before)
	}
	if after := testutil.CollectAndCount(providerConfigVirtualMachines); after != before-1 {
		t.Errorf("%d series, %d before", after, before)
	}
}
