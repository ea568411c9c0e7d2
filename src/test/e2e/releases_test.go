//go:build e2e

package e2e

import (
	"context"
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/builders"
)

// as is a client with other credentials than the tests'.
func as(t *testing.T, change func(*rest.Config)) client.Client {
	t.Helper()
	other := rest.CopyConfig(config)
	change(other)
	made, err := client.New(other, client.Options{Scheme: kube.Scheme()})
	must(t, err)
	return made
}

// operator is a client with the token of the operator's service account.
func (r *release) operator() client.Client {
	r.t.Helper()
	token, err := clientset.CoreV1().ServiceAccounts(r.namespace).CreateToken(r.t.Context(), r.name+"-vmoperator-controller-manager",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(r.t, err)
	return as(r.t, func(c *rest.Config) {
		*c = *rest.AnonymousClientConfig(c)
		c.BearerToken, c.QPS = token.Status.Token, -1
	})
}

func TestASecondReleaseWorksBesideTheFirstAndSeesNothingOfIt(t *testing.T) {
	t.Parallel()
	first, second := install(t), install(t)
	first.vm("web")
	second.vm("web")
	first.running("web")
	second.running("web")
	for _, r := range []*release{first, second} {
		if made := r.machines(); len(made) != 1 {
			t.Errorf("the provider of %s has %v, want one VM", r.name, made)
		}
	}
	own := client.ObjectKey{Namespace: second.watched[0], Name: "web-connection"}
	if err := second.operator().Get(t.Context(), own, &corev1.Secret{}); err != nil {
		t.Errorf("the second operator cannot read its own Secret: %v", err)
	}
	for _, namespace := range []string{first.watched[0], first.namespace, "kube-system"} {
		err := second.operator().Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web-connection"}, &corev1.Secret{})
		if !apierrors.IsForbidden(err) {
			t.Errorf("the second operator may read Secrets in %s: %v", namespace, err)
		}
		err = second.operator().List(t.Context(), &computev1.VirtualMachineList{}, client.InNamespace(namespace))
		if !apierrors.IsForbidden(err) {
			t.Errorf("the second operator may list VirtualMachines in %s: %v", namespace, err)
		}
	}
}

func TestAReleaseThatOverlapsAnotherStaysOutAndSaysSo(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	first := installAt(t, p)
	second := newRelease(t, "provider.defaultEndpoint="+p.endpoint(), "watchNamespaces={"+first.watched[0]+"}")
	second.watched = first.watched
	// It is not ready while it works nowhere, so nobody waits for that.
	if out, err := second.try(t.Context()); err != nil {
		t.Fatalf("installing the second release: %v\n%s", err, out)
	}
	second.says("staying out of a namespace", first.watched[0])
	first.vm("web")
	id := first.running("web").Status.ID
	first.uninstall()
	second.says("working in a namespace", first.watched[0])
	second.vm("db")
	another := second.running("db").Status.ID
	if now := second.running("web").Status.ID; now != id {
		t.Errorf("the VM was %s and is %s", id, now)
	}
	want := []string{id, another}
	slices.Sort(want)
	if made := p.machines(); !slices.Equal(made, want) {
		t.Errorf("the provider has %v, want %v", made, want)
	}
}

// person is a client with one of the cluster's roles in a namespace.
func person(t *testing.T, namespace, role string) client.Client {
	t.Helper()
	must(t, kube.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role + "-of-" + namespace}},
	}))
	return as(t, func(c *rest.Config) { c.Impersonate.UserName = role + "-of-" + namespace })
}

func TestPeopleMayWhatTheirRolesSay(t *testing.T) {
	t.Parallel()
	r := install(t, "rbac.aggregate=true")
	namespace := r.watched[0]
	view, edit, admin := person(t, namespace, "view"), person(t, namespace, "edit"), person(t, namespace, "admin")
	waitFor(t, func(ctx context.Context) string {
		for who, person := range map[string]client.Client{"view": view, "edit": edit, "admin": admin} {
			if err := person.List(ctx, &computev1.VirtualMachineList{}, client.InNamespace(namespace)); err != nil {
				return who + ": " + err.Error()
			}
		}
		return ""
	})
	vm := func() client.Object { return builders.VirtualMachine(namespace, "web") }
	config := func() client.Object { return builders.ProviderConfig(namespace, "another", r.endpoint()) }
	for _, try := range []struct {
		who     string
		client  client.Client
		object  client.Object
		allowed bool
	}{
		{"view creates a VirtualMachine", view, vm(), false},
		{"view creates a ProviderConfig", view, config(), false},
		{"edit creates a ProviderConfig", edit, config(), false},
		{"edit creates a VirtualMachine", edit, vm(), true},
		{"admin creates a ProviderConfig", admin, config(), true},
	} {
		err := try.client.Create(t.Context(), try.object)
		if try.allowed && err != nil || !try.allowed && !apierrors.IsForbidden(err) {
			t.Errorf("%s: allowed %t expected, got %v", try.who, try.allowed, err)
		}
	}
	r.running("web")
	must(t, view.List(t.Context(), &computev1.ProviderConfigList{}, client.InNamespace(namespace)))
	if err := view.List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace)); !apierrors.IsForbidden(err) {
		t.Errorf("view lists Secrets: %v", err)
	}
}
