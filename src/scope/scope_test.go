package scope_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/example/vmoperator/src/scope"
	"github.com/example/vmoperator/src/test/controlplane"
)

const (
	// startPatience is for the first run, which builds the control plane.
	startPatience = 30 * time.Minute
	// patience is for a loaded machine.
	patience = time.Minute
)

var (
	plane *controlplane.ControlPlane
	admin kubernetes.Interface
)

func TestMain(m *testing.M) {
	// What a client of the tests' own logs is noise, and a logger that is missing is more of it.
	ctrl.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	var err error
	if plane, err = controlplane.Start(ctx, controlplane.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	if admin, err = kubernetes.NewForConfig(plane.Config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// release is one installation of the operator, with only the rights that grant
// gave to its name.
type release struct {
	*scope.Scope
	mu     sync.Mutex
	states map[string]scope.State
}

// quick is for tests that wait for a namespace to be looked at again, and long
// where a slow machine must not lose a claim.
var quick = scope.Timing{Review: 50 * time.Millisecond, Claim: 60 * time.Second, RenewDeadline: 30 * time.Second, Renew: 100 * time.Millisecond}

func start(t *testing.T, name string, timing scope.Timing, namespaces ...string) *release {
	t.Helper()
	return startWith(t, name, timing, func(*scope.Options) {}, namespaces...)
}

func startWith(t *testing.T, name string, timing scope.Timing, change func(*scope.Options), namespaces ...string) *release {
	t.Helper()
	config, err := plane.AddUser(name)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	r := &release{states: map[string]scope.State{}}
	options := scope.Options{
		Client:     client,
		Namespaces: namespaces,
		Home:       "default",
		Identity:   name,
		Reads:      []authorizationv1.ResourceAttributes{{Resource: "secrets"}, {Group: "discovery.k8s.io", Resource: "endpointslices"}},
		Timing:     timing,
		Logger:     logr.Discard(),
		Report: func(namespace string, state scope.State) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.states[namespace] = state
		},
	}
	change(&options)
	r.Scope = scope.Start(t.Context(), options)
	t.Cleanup(r.Stop)
	return r
}

func (r *release) state(namespace string) scope.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.states[namespace]
}

func (r *release) wantSettled(t *testing.T, want ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := r.Settle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("namespaces to work in: %s", diff)
	}
	return got
}

func (r *release) wantChange(t *testing.T, settled []string, want error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := r.Watch(ctx, settled); !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
}

func namespace(t *testing.T) string {
	t.Helper()
	made, err := admin.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "scope-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}

var all = []string{"get", "list", "watch", "create", "update"}

// rules are the rights that the operator needs, less those to a resource.
func rules(without string) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		{Verbs: all, APIGroups: []string{""}, Resources: []string{"secrets"}},
		{Verbs: all, APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}},
		{Verbs: all, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
	}
	return slices.DeleteFunc(rules, func(rule rbacv1.PolicyRule) bool { return rule.Resources[0] == without })
}

func grant(t *testing.T, user, namespace string, rules []rbacv1.PolicyRule) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: "scope-"}, Rules: rules}
	role, err := admin.RbacV1().Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "scope-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
	if _, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func grantEverywhere(t *testing.T, user string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "scope-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
