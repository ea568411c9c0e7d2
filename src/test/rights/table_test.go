package rights

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../../.."

// installations are values, and the parts of the table that are rendered with them.
var installations = []struct {
	name   string
	values []string
	parts  []string
}{
	{"the default", []string{watched}, []string{manager, apps, mine, leader}},
	{"without leader election", []string{watched, "--set=leaderElection.enabled=false"}, []string{manager, apps, mine}},
	{"without rights", []string{watched, "--set=rbac.create=false"}, nil},
	{
		"with a default endpoint",
		[]string{watched, "--set=provider.defaultEndpoint=https://vms.example.com"},
		[]string{manager, apps, mine, leader, "To make a ProviderConfig", smoke},
	},
	{"with the mock provider", []string{watched, "--set=mock-provider.enabled=true"}, []string{manager, apps, mine, leader, "To make a ProviderConfig", smoke}},
	{"with rights that outlive a namespace", []string{watched, "--set=rbac.survivesNamespaceDeletion=true"}, []string{manager, apps, mine, leader, "To outlive a namespace"}},
	{
		"of all namespaces",
		[]string{"--set=rbac.scope=cluster"},
		[]string{manager, apps, mine, leader, "To watch all namespaces"},
	},
	{"of some namespaces with rights to all", []string{watched, "--set=rbac.scope=cluster"}, []string{manager, apps, mine, leader}},
	{"with secure metrics", []string{watched, "--set=metrics.secure=true"}, []string{manager, apps, mine, leader, "To ask who reads metrics", "Of whoever reads metrics"}},
	{"with a smoke test", []string{watched, "--set=smokeTest.provider=default"}, []string{manager, apps, mine, leader, smoke}},
	{"with the uninstall guard", []string{watched, "--set=uninstallGuard.enabled=true"}, []string{manager, apps, mine, leader, "Of the uninstall guard"}},
	{"with the labeller", []string{watched, "--set=controllers.labeller.enabled=true"}, []string{manager, apps, mine, leader, "For the labeller"}},
	{"without AppAutoscalers", []string{watched, "--set=controllers.appAutoscaler.enabled=false"}, []string{manager, mine, leader}},
	{"without MyApps", []string{watched, "--set=controllers.myApp.enabled=false"}, []string{manager, apps, leader}},
	{"with roles for people", []string{watched, "--set=rbac.aggregate=true"}, []string{manager, apps, mine, leader, "Of people"}},
}

const (
	manager = "In each watched namespace"
	apps    = "For AppAutoscalers"
	mine    = "For MyApps"
	leader  = "In the release's namespace"
	smoke   = "Of the smoke test"
)

func TestTheTableHasTheRightsThatTheChartGives(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, i := range installations {
		for _, part := range i.parts {
			tried[part] = true
		}
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			grants, err := grantsOf(t.Context(), root, i.values...)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, grant := range grants {
				got = append(got, grant.String())
			}
			for _, part := range Parts() {
				for j := range part.Purposes {
					for _, right := range part.Purposes[j].Rights() {
						if slices.Contains(i.parts, part.Title) {
							want = append(want, right.String())
						}
					}
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the table and the chart differ (- table, + chart):\n%s", diff)
			}
		})
	}
	for _, part := range Parts() {
		if !tried[part.Title] {
			t.Errorf("%q is in no installation", part.Title)
		}
	}
}

func TestARightThatIsNeverUsedHasAReason(t *testing.T) {
	t.Parallel()
	for _, part := range Parts() {
		for _, p := range part.Purposes {
			if (p.Seen == Never) != (p.Why != "") {
				t.Errorf("%s %v: used %s, reason %q", p.Resource, p.Verbs, p.Seen, p.Why)
			}
		}
	}
}
