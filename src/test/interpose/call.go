package interpose

import (
	"fmt"
	"net/http"

	"github.com/example/vmoperator/src/provider"
)

// Kind tells the calls that matter from those that only keep the operator going.
type Kind int

// The kinds.
const (
	// Object is a call about an object that is none of the following.
	Object Kind = iota + 1
	// Lease is a call about a Lease.
	Lease
	// Event is a call about an Event.
	Event
	// Review asks the apiserver who may do what.
	Review
	// Provider is a call to a provider.
	Provider
	// Other is anything else, such as discovery.
	Other
)

// Call is one request.
type Call struct {
	// Number counts the calls of a Record from 1, in the order in which they came.
	Number int
	// Who is the name of the proxy that the call came through.
	Who string
	// Kind is what the call is about.
	Kind Kind
	// Mutating is whether the call may change something.
	Mutating bool
	// Verb is Kubernetes' (create, get, list, watch, update, patch, delete,
	// deletecollection), or the provider.Operation.
	Verb string
	// Group, Resource, Subresource, Namespace and Name are of the object that a call
	// to the apiserver is about. Name is what the body says for a create, and empty
	// if the apiserver makes it.
	Group, Resource, Subresource, Namespace, Name string
	// Key is the create key, and ID the VM's, of a call to a provider that has one.
	Key, ID string
	// Header is the request's. It must not be changed.
	Header http.Header
	// Body is what was sent. It must not be changed.
	Body []byte
}

// Target names what the call is about: the same for every call about it.
func (c Call) Target() string {
	if c.Kind == Provider {
		return c.Who
	}
	target := c.Resource
	if c.Group != "" {
		target += "." + c.Group
	}
	if c.Subresource != "" {
		target += "/" + c.Subresource
	}
	return target + " " + c.Namespace + "/" + c.Name
}

// String is the call in one line.
func (c Call) String() string {
	if c.Kind != Provider {
		return fmt.Sprintf("%d %s %s %s", c.Number, c.Who, c.Verb, c.Target())
	}
	text := fmt.Sprintf("%d %s %s", c.Number, c.Who, c.Verb)
	if c.Key != "" {
		text += " key=" + c.Key
	}
	if c.ID != "" {
		text += " id=" + c.ID
	}
	return text
}

// Is reports whether the call is one of a provider's operations.
func (c Call) Is(operation provider.Operation) bool {
	return c.Kind == Provider && c.Verb == string(operation)
}
