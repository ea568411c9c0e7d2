package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/scope"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/controlplane"
	"github.com/example/vmoperator/src/test/operator"
)

func TestAMissingCRDIsNamedAndEndsTheOperator(t *testing.T) {
	bare, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bare.Stop(); err != nil {
			t.Error(err)
		}
	})
	status, stderr := runOperator(t, bare.Config)
	if status != exitFailed || !strings.Contains(stderr, "missing CustomResourceDefinition: virtualmachines.compute.example.com, providerconfigs.compute.example.com, appautoscalers.apps.example.io, myapps.apps.example.io: run \\\"make install\\\", or install the chart") {
		t.Errorf("exit status %d, said %s", status, stderr)
	}
	if errs := strings.Count(stderr, `"level":"error"`); errs != 1 {
		t.Errorf("said %d errors, want one:\n%s", errs, stderr)
	}
}

// Until then it is alive, so that nothing kills it, and not ready.
func TestTheOperatorIsReadyOnceItHasRightsAndCaches(t *testing.T) {
	place := namespace(t)
	config, err := plane.AddUser("without-rights")
	if err != nil {
		t.Fatal(err)
	}
	o := startOperator(t, config, "--watch-namespaces="+place)
	o.WantLine("staying out of a namespace", place, "refused", "no right to list virtualmachines.compute.example.com")
	o.WantProbe("/healthz", http.StatusOK)
	o.WantProbe("/readyz", http.StatusServiceUnavailable)
	o.Terminate()
	o.WantEnd()

	grant(t, "without-rights", place)
	o = startOperator(t, config, "--watch-namespaces="+place)
	o.WantProbe("/readyz", http.StatusOK)
	o.Terminate()
	o.WantEnd()
}

func TestAStandbyIsReadyAndTakesOver(t *testing.T) {
	place := namespace(t)
	args := []string{
		"--watch-namespaces=" + place, "--leader-elect", "--leader-election-namespace=" + place,
		"--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=10s", "--leader-elect-retry-period=100ms",
	}
	first := startOperator(t, plane.Config, args...)
	first.WantLine("Starting workers", `"virtualmachine"`)
	second := startOperator(t, plane.Config, args...)
	second.WantProbe("/readyz", http.StatusOK)
	before := leader(t, place)

	// The lease is given back, not left to run out.
	first.Terminate()
	first.WantEnd()
	second.WantLine("Starting workers", `"virtualmachine"`)
	if after := leader(t, place); after == "" || after == before {
		t.Errorf("the leader was %q and is %q", before, after)
	}
}

func leader(t *testing.T, namespace string) string {
	t.Helper()
	var lease coordinationv1.Lease
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: leaderElectionID}, &lease); err != nil {
		t.Fatal(err)
	}
	return *lease.Spec.HolderIdentity
}

func TestASecondReleaseStaysOut(t *testing.T) {
	shared, own := namespace(t), namespace(t)
	first := startOperator(t, plane.Config, "--watch-namespaces="+shared, "--leader-election-namespace="+shared)
	first.WantProbe("/readyz", http.StatusOK)
	second := startOperator(t, plane.Config, "--watch-namespaces="+shared+","+own, "--leader-election-namespace="+own)
	second.WantLine("staying out of a namespace", shared, "foreign", "release "+shared+"/vmoperator-leader works there")
	second.WantProbe("/readyz", http.StatusOK)

	var lease coordinationv1.Lease
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: shared, Name: scope.LeaseName}, &lease); err != nil {
		t.Fatal(err)
	}
	if got := *lease.Spec.HolderIdentity; got != shared+"/vmoperator-leader" {
		t.Errorf("the claim is %s's", got)
	}
}

func TestOutsideAClusterAllNamespacesAreWatched(t *testing.T) {
	// Operators of other tests were killed, and could not give their claims back.
	var leases coordinationv1.LeaseList
	if err := kube.List(t.Context(), &leases, client.MatchingFields{"metadata.name": scope.LeaseName}); err != nil {
		t.Fatal(err)
	}
	for i := range leases.Items {
		if err := kube.Delete(t.Context(), &leases.Items[i]); err != nil {
			t.Fatal(err)
		}
	}
	places := []string{namespace(t), namespace(t)}
	o := startOperator(t, plane.Config)
	o.WantLine("working in a namespace", "(all)")
	o.WantProbe("/readyz", http.StatusOK)
	for _, place := range places {
		config := builders.ProviderConfig(place, "default", "http://127.0.0.1:1")
		create(t, config)
		operator.WaitFor(t, "the operator to see "+place, func(ctx context.Context) bool {
			return kube.Get(ctx, client.ObjectKeyFromObject(config), config) == nil && config.Status.ObservedGeneration == 1
		})
	}
	o.Terminate()
	o.WantEnd()
}

func TestTheDefaultProviderConfigIsMade(t *testing.T) {
	place := namespace(t)
	config, err := plane.AddUser("maker")
	if err != nil {
		t.Fatal(err)
	}
	grantRules(t, "maker", place, append(defaultRules(t), chartRules(t, "default-provider")...))
	startOperator(t, config, "--watch-namespaces="+place, "--leader-election-namespace="+place, "--default-provider-endpoint=http://127.0.0.1:1")
	var made computev1.ProviderConfig
	operator.WaitFor(t, "the refusal of a loopback address to be reported", func(ctx context.Context) bool {
		err := kube.Get(ctx, client.ObjectKey{Namespace: place, Name: "default"}, &made)
		return err == nil && meta.IsStatusConditionPresentAndEqual(made.Status.Conditions, computev1.ConditionReady, metav1.ConditionFalse)
	})
	if got := made.Spec.Endpoint; got != "http://127.0.0.1:1" {
		t.Errorf("the endpoint is %s", got)
	}
}

func namespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "manager-"}}
	create(t, made)
	return made.Name
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// grant gives a user the rights in a namespace that the chart gives.
func grant(t *testing.T, user, namespace string) {
	t.Helper()
	grantRules(t, user, namespace, defaultRules(t))
}

func grantRules(t *testing.T, user, namespace string, rules []rbacv1.PolicyRule) {
	t.Helper()
	create(t, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user}, Rules: rules})
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})
}

// defaultRules are the rights that the controllers need which run by default.
func defaultRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	return slices.Concat(generatedRules(t), readRole(t, "rules/appautoscaler.yaml").Rules, readRole(t, "rules/myapp.yaml").Rules)
}

// generatedRules are the rights that the markers in the code ask for.
func generatedRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	role := readRole(t, "rbac/role.yaml")
	if role.Kind != "ClusterRole" || len(role.Rules) == 0 {
		t.Fatalf("the file begins with %s %s, want the ClusterRole", role.Kind, role.Name)
	}
	return role.Rules
}

// readRole reads a file of the chart that has rules.
func readRole(t *testing.T, file string) rbacv1.ClusterRole {
	t.Helper()
	content, err := os.ReadFile("../../../charts/vmoperator/files/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096).Decode(&role); err != nil {
		t.Fatal(err)
	}
	return role
}
