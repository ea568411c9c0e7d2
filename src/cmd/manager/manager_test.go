package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/scope"
	"github.com/example/vmoperator/src/test/controlplane"
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
	if status != exitFailed || !strings.Contains(stderr, "missing CustomResourceDefinition: virtualmachines.compute.example.com, providerconfigs.compute.example.com: run \\\"make install\\\", or install the chart") {
		t.Errorf("exit status %d, said %s", status, stderr)
	}
	if lines := strings.Count(stderr, "\n"); lines != 1 {
		t.Errorf("said %d lines, want one:\n%s", lines, stderr)
	}
}

func TestAnUnreachableClusterEndsTheOperator(t *testing.T) {
	nowhere := *plane.Config
	nowhere.Host = "https://127.0.0.1:1"
	status, stderr := runOperator(t, &nowhere)
	if status != exitFailed || !strings.Contains(stderr, "asking the Kubernetes API which kinds it serves") {
		t.Errorf("exit status %d, said %s", status, stderr)
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
	o.wantLine("staying out of a namespace", place, "refused", "no right to list virtualmachines.compute.example.com")
	o.wantProbe("/healthz", http.StatusOK)
	o.wantProbe("/readyz", http.StatusInternalServerError)
	o.terminate()
	o.wantEnd()

	grant(t, "without-rights", place)
	o = startOperator(t, config, "--watch-namespaces="+place)
	o.wantProbe("/readyz", http.StatusOK)
	o.terminate()
	o.wantEnd()
}

func TestAStandbyIsReadyAndTakesOver(t *testing.T) {
	place := namespace(t)
	args := []string{
		"--watch-namespaces=" + place, "--leader-elect", "--leader-election-namespace=" + place,
		"--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=10s", "--leader-elect-retry-period=100ms",
	}
	first := startOperator(t, plane.Config, args...)
	first.wantLine("Starting workers", `"virtualmachine"`)
	second := startOperator(t, plane.Config, args...)
	second.wantProbe("/readyz", http.StatusOK)
	before := leader(t, place)

	// The lease is given back, not left to run out.
	first.terminate()
	first.wantEnd()
	second.wantLine("Starting workers", `"virtualmachine"`)
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
	first.wantProbe("/readyz", http.StatusOK)
	second := startOperator(t, plane.Config, "--watch-namespaces="+shared+","+own, "--leader-election-namespace="+own)
	second.wantLine("staying out of a namespace", shared, "foreign", "release "+shared+"/vmoperator-leader works there")
	second.wantProbe("/readyz", http.StatusOK)

	var lease coordinationv1.Lease
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: shared, Name: scope.LeaseName}, &lease); err != nil {
		t.Fatal(err)
	}
	if got := *lease.Spec.HolderIdentity; got != shared+"/vmoperator-leader" {
		t.Errorf("the claim is %s's", got)
	}
}

// A VM that was made while the operator is told to stop must not be lost.
func TestAStopWaitsForTheVMThatIsBeingMade(t *testing.T) {
	place := namespace(t)
	provider := startSlowProvider(t)
	create(t, &computev1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: "default"},
		Spec:       computev1.ProviderConfigSpec{Endpoint: provider.URL},
	})
	memory := resource.MustParse("1Gi")
	vm := &computev1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: "vm"},
		Spec:       computev1.VirtualMachineSpec{Image: "ubuntu", CPU: 1, Memory: &memory},
	}
	create(t, vm)
	o := startOperator(t, plane.Config, "--watch-namespaces="+place, "--leader-election-namespace="+place, "--allow-endpoint-cidrs=127.0.0.0/8")
	select {
	case <-provider.asked:
	case <-t.Context().Done():
		t.Fatal("no VM was asked for")
	}

	o.terminate()
	o.wantLine("Stopping and waiting for leader election runnables")
	close(provider.answer)
	o.wantEnd()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
		t.Fatal(err)
	}
	if vm.Status.ID != "vm-1" {
		t.Errorf("the VM's id is lost: status %+v", vm.Status)
	}
}

// slowProvider offers the minimum, and answers a POST when it is told to.
type slowProvider struct {
	*httptest.Server
	asked, answer chan struct{}
}

func startSlowProvider(t *testing.T) *slowProvider {
	t.Helper()
	p := &slowProvider{asked: make(chan struct{}, 10), answer: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /vms", func(w http.ResponseWriter, r *http.Request) {
		p.asked <- struct{}{}
		select {
		case <-p.answer:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id": "vm-1", "image": "ubuntu", "phase": "Provisioning"}`))
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func TestTheDefaultProviderConfigIsMade(t *testing.T) {
	place := namespace(t)
	startOperator(t, plane.Config, "--watch-namespaces="+place, "--leader-election-namespace="+place, "--default-provider-endpoint=http://127.0.0.1:1")
	var config computev1.ProviderConfig
	waitFor(t, "the refusal of a loopback address to be reported", func(ctx context.Context) bool {
		err := kube.Get(ctx, client.ObjectKey{Namespace: place, Name: "default"}, &config)
		return err == nil && meta.IsStatusConditionPresentAndEqual(config.Status.Conditions, computev1.ConditionReady, metav1.ConditionFalse)
	})
	if got := config.Spec.Endpoint; got != "http://127.0.0.1:1" {
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

// grant gives a user the rights in a namespace that the operator needs to start.
func grant(t *testing.T, user, namespace string) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user}}
	for _, read := range reads() {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{
			APIGroups: []string{read.Group}, Resources: []string{read.Resource}, Verbs: []string{"list", "watch"},
		})
	}
	role.Rules = append(role.Rules, rbacv1.PolicyRule{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"},
	})
	create(t, role)
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})
}
