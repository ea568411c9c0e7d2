package chart

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestTheDefaultInstallationHasNoRightToTheCluster(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--set=watchNamespaces={default,team}"}, {"--set=replicas=2,mock-provider.enabled=true"}} {
		for _, object := range render(t, args...) {
			if slices.Contains([]string{"ClusterRole", "ClusterRoleBinding"}, object.GetKind()) {
				t.Errorf("%v: there is the %s %s", args, object.GetKind(), object.GetName())
			}
		}
	}
}

func TestEachWatchedNamespaceHasARoleAndABinding(t *testing.T) {
	t.Parallel()
	objects := render(t, "--set=watchNamespaces={default,team}")
	roles, bindings := []string{}, []string{}
	for _, role := range ofKind[rbacv1.Role](t, objects, "Role") {
		roles = append(roles, role.Namespace+"/"+role.Name)
	}
	for _, binding := range ofKind[rbacv1.RoleBinding](t, objects, "RoleBinding") {
		bindings = append(bindings, binding.Namespace+"/"+binding.RoleRef.Name)
	}
	slices.Sort(roles)
	slices.Sort(bindings)
	want := []string{
		"default/vmoperator-vmoperator-system-manager-role",
		"team/vmoperator-vmoperator-system-manager-role",
		"vmoperator-system/vmoperator-leader-election-role",
	}
	if diff := cmp.Diff(want, roles); diff != "" {
		t.Errorf("the Roles are others:\n%s", diff)
	}
	if diff := cmp.Diff(want, bindings); diff != "" {
		t.Errorf("the Roles that are bound are others:\n%s", diff)
	}
}

// TestEveryBindingBindsARoleOfTheReleaseToItsServiceAccount finds names that fell
// apart.
func TestEveryBindingBindsARoleOfTheReleaseToItsServiceAccount(t *testing.T) {
	t.Parallel()
	for _, v := range all(t) {
		t.Run(v.name, func(t *testing.T) {
			exists := map[string]bool{}
			for _, object := range v.objects {
				exists[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = true
			}
			check := func(namespace string, role rbacv1.RoleRef, subjects []rbacv1.Subject) {
				if role.Kind == "ClusterRole" {
					namespace = ""
				}
				if !exists[role.Kind+" "+namespace+"/"+role.Name] {
					t.Errorf("the %s %s/%s that is bound does not exist", role.Kind, namespace, role.Name)
				}
				for _, subject := range subjects {
					if !exists[subject.Kind+" "+subject.Namespace+"/"+subject.Name] {
						t.Errorf("the %s %s/%s that has the %s does not exist", subject.Kind, subject.Namespace, subject.Name, role.Name)
					}
				}
			}
			for _, binding := range ofKind[rbacv1.RoleBinding](t, v.objects, "RoleBinding") {
				check(binding.Namespace, binding.RoleRef, binding.Subjects)
			}
			for _, binding := range ofKind[rbacv1.ClusterRoleBinding](t, v.objects, "ClusterRoleBinding") {
				check("", binding.RoleRef, binding.Subjects)
			}
		})
	}
}

func TestAggregatedRolesGiveNoRightToChangeAStatus(t *testing.T) {
	t.Parallel()
	found := 0
	for _, role := range ofKind[rbacv1.ClusterRole](t, render(t, "--set=rbac.aggregate=true"), "ClusterRole") {
		found++
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				if !slices.Contains([]string{"virtualmachines", "providerconfigs", "appautoscalers", "appautoscalers/scale", "myapps", "myapps/scale"}, resource) {
					t.Errorf("%s gives rights to %s", role.Name, resource)
				}
			}
		}
		if role.AggregationRule != nil {
			t.Errorf("%s aggregates: what it has would be overwritten", role.Name)
		}
	}
	if found != 3 {
		t.Errorf("there are %d roles for people", found)
	}
}
