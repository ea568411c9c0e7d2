package crash

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
)

// Effect is one change that the operator makes. It has a name instead of a place
// in the order of all, so that it can be found again in another run.
type Effect struct {
	// Verb is what is done: Kubernetes' verb, or the provider's operation.
	Verb string
	// Object is what it is done to: "virtualmachines/web/status", or "provider/web"
	// for the VM of the object web.
	Object string
	// Ordinal counts the effects with this verb and object, from 1.
	Ordinal int
}

// providerPrefix begins the Object of a change at the provider.
const providerPrefix = "provider/"

// String names the effect for people.
func (e Effect) String() string { return fmt.Sprintf("%s %s #%d", e.Verb, e.Object, e.Ordinal) }

// Name names the effect in a test's name: no slash, which would be a level.
func (e Effect) Name() string {
	return fmt.Sprintf("%s-%s-%d", e.Verb, strings.ReplaceAll(e.Object, "/", "-"), e.Ordinal)
}

// Creates reports whether the effect is a POST to the provider.
func (e Effect) Creates() bool {
	return e.Verb == string(provider.OperationCreate) && strings.HasPrefix(e.Object, providerPrefix)
}

// Tells reports whether the effect is the write of a status.
func (e Effect) Tells() bool { return strings.HasSuffix(e.Object, "/status") }

// Numbering gives effects their names. The zero value begins with each ordinal 1.
type Numbering struct {
	counts map[Effect]int
}

// Of names the effect that a call will have in a namespace, if it is one. ownerOf
// knows the object of a VM's id. What only keeps the operator going is none: leases,
// events and reviews; nor is what happens in another namespace.
func (n *Numbering) Of(call interpose.Call, namespace string, ownerOf func(id string) string) (Effect, bool) {
	if !IsEffect(call, namespace) {
		return Effect{}, false
	}
	effect := Effect{Verb: call.Verb, Object: objectOf(call, ownerOf)}
	if n.counts == nil {
		n.counts = map[Effect]int{}
	}
	n.counts[effect]++
	effect.Ordinal = n.counts[effect]
	return effect, true
}

// IsEffect reports whether a call may change something that a user sees.
func IsEffect(call interpose.Call, namespace string) bool {
	switch call.Kind {
	case interpose.Provider:
		return call.Mutating
	case interpose.Object:
		return call.Mutating && call.Namespace == namespace
	default:
		return false
	}
}

func objectOf(call interpose.Call, ownerOf func(id string) string) string {
	if call.Kind != interpose.Provider {
		object := call.Resource + "/" + call.Name
		if call.Subresource != "" {
			object += "/" + call.Subresource
		}
		return object
	}
	if call.ID != "" {
		return providerPrefix + ownerOf(call.ID)
	}
	var request provider.CreateRequest
	if json.Unmarshal(call.Body, &request) != nil {
		return providerPrefix + "?"
	}
	return providerPrefix + request.Name
}
