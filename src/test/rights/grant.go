package rights

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/vmoperator/src/test/chart/rendering"
)

// Holder is who has a right.
type Holder string

// The holders. The service accounts' names end with them.
const (
	Operator       Holder = "controller-manager"
	SmokeTest      Holder = "smoke-test"
	UninstallGuard Holder = "uninstall-guard"
	// People are whom an administrator gives a role to that the chart does not bind.
	People Holder = "people"
)

func holderOf(account string) (Holder, bool) {
	for _, holder := range []Holder{Operator, SmokeTest, UninstallGuard} {
		if strings.HasSuffix(account, "-"+string(holder)) {
			return holder, true
		}
	}
	return "", false
}

// Right is one verb on one resource.
type Right struct {
	Holder Holder
	// Home limits it to the release's namespace.
	Home bool
	// Group and Resource are as in Call.
	Group, Resource string
	// Name limits it to objects of this name, as path.Match understands it; empty
	// for all.
	Name string
	Verb string
}

// Grant is a right that the chart gives.
type Grant struct {
	Right
	// Everywhere: it is not limited to namespaces.
	Everywhere bool
}

// AllGrants returns what the chart of the repository whose root is given grants
// with any values.
func AllGrants(ctx context.Context, root string) ([]Grant, error) {
	var all []Grant
	for _, part := range Parts() {
		values := part.Values
		if len(values) == 0 {
			values = []string{watched}
		}
		grants, err := grantsOf(ctx, root, values...)
		if err != nil {
			return nil, err
		}
		all = append(all, grants...)
	}
	return all, nil
}

// The release that the chart is rendered as.
const (
	release = "vmoperator"
	home    = "vmoperator-system"
)

// grantsOf returns what the chart grants with some values: Helm's arguments, as in
// "--set=rbac.scope=cluster".
func grantsOf(ctx context.Context, root string, values ...string) ([]Grant, error) {
	objects, err := rendering.Chart(ctx, root, release, home, values...)
	if err != nil {
		return nil, err
	}
	return granted(objects)
}

// granted follows the bindings of a release to their roles. A role that none binds
// is for people.
func granted(objects []unstructured.Unstructured) ([]Grant, error) {
	roles, err := rulesOf(objects)
	if err != nil {
		return nil, err
	}
	bindings, err := bindingsOf(objects)
	if err != nil {
		return nil, err
	}
	var grants []Grant
	bound := map[string]bool{}
	for i := range bindings {
		binding := &bindings[i]
		key := roleKey(binding.RoleRef.Kind, binding.Namespace, binding.RoleRef.Name)
		rules, exists := roles[key]
		if !exists {
			return nil, fmt.Errorf("%s is bound and not there", key)
		}
		bound[key] = true
		for _, subject := range binding.Subjects {
			holder, ours := holderOf(subject.Name)
			if !ours {
				return nil, fmt.Errorf("%s is bound to the unknown %s", key, subject.Name)
			}
			grants = append(grants, expand(rules, Grant{
				Right: Right{Holder: holder, Home: binding.Namespace == home}, Everywhere: binding.Namespace == "",
			})...)
		}
	}
	for key, rules := range roles {
		if !bound[key] {
			grants = append(grants, expand(rules, Grant{Right: Right{Holder: People}, Everywhere: true})...)
		}
	}
	return grants, nil
}

// roleKey names a role within a release.
func roleKey(kind, namespace, name string) string {
	if kind == "ClusterRole" {
		namespace = ""
	}
	return kind + " " + namespace + "/" + name
}

func rulesOf(objects []unstructured.Unstructured) (map[string][]rbacv1.PolicyRule, error) {
	found := map[string][]rbacv1.PolicyRule{}
	for _, kind := range []string{"Role", "ClusterRole"} {
		// Both have the same fields, but for aggregation.
		roles, err := rendering.OfKind[rbacv1.ClusterRole](objects, kind)
		if err != nil {
			return nil, err
		}
		for i := range roles {
			found[roleKey(kind, roles[i].Namespace, roles[i].Name)] = roles[i].Rules
		}
	}
	return found, nil
}

func bindingsOf(objects []unstructured.Unstructured) ([]rbacv1.RoleBinding, error) {
	inNamespaces, err := rendering.OfKind[rbacv1.RoleBinding](objects, "RoleBinding")
	if err != nil {
		return nil, err
	}
	// Both have the same fields.
	ofCluster, err := rendering.OfKind[rbacv1.RoleBinding](objects, "ClusterRoleBinding")
	return slices.Concat(inNamespaces, ofCluster), err
}

// expand lists the single rights of rules, each like the grant that is given.
func expand(rules []rbacv1.PolicyRule, like Grant) []Grant {
	var grants []Grant
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		groups := rule.APIGroups
		if len(groups) == 0 {
			groups = []string{""}
		}
		for _, group := range groups {
			for _, resource := range slices.Concat(rule.Resources, rule.NonResourceURLs) {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						grant := like
						grant.Group, grant.Resource, grant.Name, grant.Verb = group, resource, generic(name), verb
						grants = append(grants, grant)
					}
				}
			}
		}
	}
	return grants
}

// generic is a name in a rule without what is this release's of it.
func generic(name string) string {
	return strings.Replace(name, release+"-"+home, "*", 1)
}

// covers reports whether a rule of the chart allows a call. Which namespaces the
// operator watches is not known here.
func (g Grant) covers(call Call) bool {
	return g.fits(call) && (g.Everywhere || call.Namespace != "")
}
