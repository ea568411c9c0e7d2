package rights

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// logged is an event of the operator's, changed by the functions.
func logged(verb, group, resource, namespace string, changes ...func(*auditv1.Event)) auditv1.Event {
	resource, subresource, _ := strings.Cut(resource, "/")
	event := auditv1.Event{
		Stage: auditv1.StageResponseComplete, Verb: verb, UserAgent: "vmoperator/v1",
		User:        authenticationv1.UserInfo{Username: "system:serviceaccount:home:vmoperator-controller-manager"},
		ObjectRef:   &auditv1.ObjectReference{APIGroup: group, Resource: resource, Subresource: subresource, Namespace: namespace},
		Annotations: map[string]string{decision: allow},
	}
	for _, change := range changes {
		change(&event)
	}
	return event
}

func refused(event *auditv1.Event) { event.Annotations[decision] = "forbid" }

func named(name string) func(*auditv1.Event) {
	return func(event *auditv1.Event) { event.ObjectRef.Name = name }
}

func log(t *testing.T, events ...auditv1.Event) *bytes.Buffer {
	t.Helper()
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range events {
		if err := encoder.Encode(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	return &lines
}

// everything is a log in which each right that people do not have is used once.
func everything(except ...Seen) []auditv1.Event {
	var events []auditv1.Event
	for _, part := range Parts() {
		for _, p := range part.Purposes {
			if p.Holder == People || slices.Contains(except, p.Seen) {
				continue
			}
			place := "team"
			if p.Home {
				place = "home"
			}
			if part.Title == "To watch all namespaces" {
				place = ""
			}
			for _, verb := range p.Verbs {
				events = append(events, logged(verb, p.Group, p.Resource, place, named(strings.ReplaceAll(p.Name, "*", "x")),
					func(event *auditv1.Event) {
						event.User.Username = "system:serviceaccount:home:vmoperator-" + string(p.Holder)
						if verb == "watch" {
							event.Stage = auditv1.StageResponseStarted
						}
					}))
			}
		}
	}
	return events
}

// allGrants are rendered once for all tests.
var allGrants = sync.OnceValues(func() ([]Grant, error) { return AllGrants(context.Background(), root) })

func checked(t *testing.T, depth Depth, events ...auditv1.Event) *Report {
	t.Helper()
	grants, err := allGrants()
	if err != nil {
		t.Fatal(err)
	}
	report, err := Check(log(t, events...), grants, depth)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestACallIsJudgedByWhatTheChartGives(t *testing.T) {
	t.Parallel()
	usual := everything(Never)
	and := func(more ...auditv1.Event) []auditv1.Event { return slices.Concat(usual, more) }
	for name, test := range map[string]struct {
		events []auditv1.Event
		want   []string
	}{
		"all that is expected": {and(), nil},
		"a call that no rule of the chart allows": {
			and(logged("list", "", "configmaps", "team")),
			[]string{"controller-manager: list configmaps in another namespace: allowed, and not by the chart"},
		},
		"a call that was refused": {
			and(logged("list", "", "nodes", "", refused)),
			[]string{"controller-manager: list nodes in all namespaces: refused, a right is missing"},
		},
		"a call that was refused once, and allowed before or after": {
			and(logged("create", "", "services", "other", refused)), nil,
		},
		"a call to all namespaces by one that has rights in some": {
			and(logged("watch", "", "secrets", "", refused)),
			[]string{"controller-manager: watch secrets in all namespaces: refused, a right is missing"},
		},
		"a lease that is another's": {
			and(logged("update", "coordination.k8s.io", "leases", "team", named("node-1"))),
			[]string{"controller-manager: update leases.coordination.k8s.io in another namespace: allowed, and not by the chart"},
		},
		"the leader's lease in another namespace than the release's": {
			and(logged("get", "coordination.k8s.io", "leases", "team", named("vmoperator-leader"), refused)),
			[]string{"controller-manager: get leases.coordination.k8s.io in another namespace: refused, a right is missing"},
		},
		"what everyone may do": {
			and(logged("create", "authorization.k8s.io", "selfsubjectaccessreviews", ""),
				logged("get", "", "", "", func(event *auditv1.Event) { event.ObjectRef, event.RequestURI = nil, "/apis?x=y" })),
			nil,
		},
		"a person with the operator's token": {
			and(logged("list", "", "secrets", "", refused, func(event *auditv1.Event) { event.UserAgent = "kubectl/v1" })), nil,
		},
		"another service account": {
			and(logged("list", "", "nodes", "", func(event *auditv1.Event) {
				event.User.Username = "system:serviceaccount:kube-system:node-controller"
			})),
			nil,
		},
		"a right that is said to be used never": {
			and(logged("list", "", "services", "team")),
			[]string{"controller-manager: list services: used, and said to be never"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, checked(t, Full, test.events...).Faults); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARightThatNoCallUsesIsOneTooMany(t *testing.T) {
	t.Parallel()
	faults := checked(t, Full, everything(Never, Rarely)...).Faults
	if want := "controller-manager: update services: not used, a right too many"; !slices.Contains(faults, want) {
		t.Errorf("%q is not among %q", want, faults)
	}
}

func TestAClusterNeedNotShowWhatIsRareOrNotInstalled(t *testing.T) {
	t.Parallel()
	// The last parts: nobody has installed them.
	few := slices.DeleteFunc(everything(Never, Rarely), func(event auditv1.Event) bool {
		return event.ObjectRef.Resource == "rolebindings" || strings.HasSuffix(event.User.Username, string(UninstallGuard))
	})
	report := checked(t, Common, few...)
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	if first, _, _ := strings.Cut(report.String(), "\n"); !strings.HasSuffix(first, "0 faults") || !strings.HasPrefix(first, "rights: ") {
		t.Errorf("the report says %s", report)
	}
	if table := report.Table(); !strings.Contains(table, "| In each watched namespace | `endpointslices.discovery.k8s.io` | create 1 |  |") ||
		!strings.Contains(table, "| In each watched namespace | `endpointslices.discovery.k8s.io` |  | list: The cache lists") {
		t.Errorf("the table is\n%s", table)
	}
}

func TestALogThatIsStillWrittenIsReadUpToItsLastWholeLine(t *testing.T) {
	t.Parallel()
	lines := log(t, logged("list", "", "nodes", "", refused))
	lines.WriteString(`{"userAgent":"vmoperator/v1","verb":`)
	report, err := Check(lines, nil, Common)
	if err != nil {
		t.Fatal(err)
	}
	if report.Calls != 1 {
		t.Errorf("%d calls, want 1", report.Calls)
	}
}

func TestALogThatIsDamagedIsNotTakenForOneWithoutCalls(t *testing.T) {
	t.Parallel()
	if _, err := Check(strings.NewReader("{vmoperator/}\n"), nil, Common); err == nil {
		t.Error("no error")
	}
}
