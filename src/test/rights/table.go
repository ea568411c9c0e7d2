package rights

import (
	"path"
	"slices"
)

// Seen says which calls of the operator use a right.
type Seen string

// How often a right is used.
const (
	// Always means by every life of a VM.
	Always Seen = "always"
	// Rarely means in situations that most installations never see, and that the
	// tests of this package bring about.
	Rarely Seen = "rarely"
	// Never means not in a cluster of the version that the tests run.
	Never Seen = "never"
)

// Purpose is what some rights are for.
type Purpose struct {
	Holder          Holder
	Home            bool
	Group, Resource string
	Name            string
	Verbs           []string
	// For ends the sentence that the verbs and the resource begin.
	For  string
	Seen Seen
	// Why is the reason of a right that is used never.
	Why string
}

// Part is what the chart gives under one condition.
type Part struct {
	Title string
	// When says with which values.
	When string
	// Values render it, beside other parts; none means that it is always there.
	Values   []string
	Purposes []Purpose
}

// Rights are the single rights of a purpose.
func (p *Purpose) Rights() []Right {
	rights := make([]Right, 0, len(p.Verbs))
	for _, verb := range p.Verbs {
		rights = append(rights, Right{
			Holder: p.Holder, Home: p.Home, Group: p.Group, Resource: p.Resource, Name: p.Name, Verb: verb,
		})
	}
	return rights
}

// fits reports whether a call is what the right is about. A right in each watched
// namespace is one in the release's namespace as well, which may be watched.
func (r Right) fits(call Call) bool {
	return r.Holder == call.Holder && r.Group == call.Group && r.Resource == call.Resource && r.Verb == call.Verb &&
		(!r.Home || call.Namespace == call.Home) && r.named(call.Name)
}

func (r Right) named(name string) bool {
	if r.Name == "" {
		return true
	}
	matches, err := path.Match(r.Name, name)
	return err == nil && matches
}

// Parts are all rights of the chart.
func Parts() []Part {
	return slices.Concat([]Part{
		{
			Title: "In each watched namespace", When: "always; with `rbac.scope: cluster`, in all namespaces",
			Purposes: slices.Concat(ownKinds(), secrets(), otherChildren(), told()),
		},
	}, conditional(), commands(), people())
}

const (
	compute   = "compute.example.com"
	vms       = "virtualmachines"
	configs   = "providerconfigs"
	leases    = "leases"
	leaseKind = "coordination.k8s.io"
	rbac      = "rbac.authorization.k8s.io"
)

// beside is the reason of a list that no call uses: a client that cannot have the
// objects streamed lists them, and then watches.
const beside = "The cache lists where the server does not stream: Kubernetes before 1.34, or with the feature `WatchList` off."
