package interpose

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/example/vmoperator/src/provider"
)

// Classify says what a request is. It fills all of a Call but its number and who
// it came through.
type Classify func(*http.Request, []byte) Call

var requests = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// Kubernetes classifies requests to an apiserver.
func Kubernetes(r *http.Request, body []byte) Call {
	call := Call{Kind: Other, Verb: strings.ToLower(r.Method), Header: r.Header, Body: body}
	info, err := requests.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return call
	}
	call.Verb, call.Group, call.Resource, call.Subresource = info.Verb, info.APIGroup, info.Resource, info.Subresource
	call.Namespace, call.Name = info.Namespace, info.Name
	call.Kind = kindOf(info.APIGroup, info.Resource)
	call.Mutating = call.Kind != Review && !r.URL.Query().Has("dryRun") && !slices.Contains([]string{"get", "list", "watch"}, info.Verb)
	if call.Name == "" && call.Verb == "create" {
		call.Name = nameIn(body)
	}
	return call
}

func kindOf(group, resource string) Kind {
	switch {
	case resource == "leases":
		return Lease
	case resource == "events":
		return Event
	case strings.HasSuffix(group, "authorization.k8s.io") || strings.HasSuffix(group, "authentication.k8s.io"):
		return Review
	default:
		return Object
	}
}

// nameIn is the name of the object in a body: JSON for our kinds, protobuf for
// Kubernetes' own.
func nameIn(body []byte) string {
	var object struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if json.Unmarshal(body, &object) == nil {
		return object.Metadata.Name
	}
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return ""
	}
	if accessor, err := meta.Accessor(decoded); err == nil {
		return accessor.GetName()
	}
	return ""
}

// Contract classifies requests to a provider, by the contract's paths under
// whatever path the endpoint has.
func Contract(r *http.Request, body []byte) Call {
	call := Call{Kind: Provider, Header: r.Header, Body: body, Key: r.Header.Get("Idempotency-Key")}
	path := strings.TrimSuffix(r.URL.Path, "/")
	collection := strings.HasSuffix(path, "/vms")
	if i := strings.LastIndex(path, "/vms/"); i >= 0 {
		call.ID = path[i+len("/vms/"):]
	}
	call.Verb = string(operationOf(r, collection, call.ID))
	if call.Is(provider.OperationFind) {
		call.Key = r.URL.Query().Get("key")
	}
	call.Mutating = slices.Contains([]provider.Operation{
		provider.OperationCreate, provider.OperationResize, provider.OperationDelete,
	}, provider.Operation(call.Verb))
	return call
}

func operationOf(r *http.Request, collection bool, id string) provider.Operation {
	switch {
	case collection && r.Method == http.MethodPost:
		return provider.OperationCreate
	case collection && r.URL.Query().Has("key"):
		return provider.OperationFind
	case collection:
		return provider.OperationList
	case id != "" && r.Method == http.MethodDelete:
		return provider.OperationDelete
	case id != "" && r.Method == http.MethodPatch:
		return provider.OperationResize
	case id != "":
		return provider.OperationGet
	default:
		return provider.OperationCapabilities
	}
}
