package interpose

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestARequestToTheApiserverIsNamedByItsObject(t *testing.T) {
	const vms = "/apis/compute.example.com/v1/namespaces/a/virtualmachines"
	for name, c := range map[string]struct {
		method, path, body string
		want               Call
	}{
		"a create by its body": {
			http.MethodPost, vms, `{"metadata":{"name":"web"}}`,
			Call{Kind: Object, Mutating: true, Verb: "create", Group: "compute.example.com", Resource: "virtualmachines", Namespace: "a", Name: "web"},
		},
		"a patch of a status": {
			http.MethodPatch, vms + "/web/status", "[]",
			Call{
				Kind: Object, Mutating: true, Verb: "patch", Group: "compute.example.com", Resource: "virtualmachines",
				Subresource: "status", Namespace: "a", Name: "web",
			},
		},
		"a watch": {
			http.MethodGet, vms + "?watch=true", "",
			Call{Kind: Object, Verb: "watch", Group: "compute.example.com", Resource: "virtualmachines", Namespace: "a"},
		},
		"a lease": {
			http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/a/leases/vmoperator", "{}",
			Call{Kind: Lease, Mutating: true, Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "a", Name: "vmoperator"},
		},
		"an event": {
			http.MethodPost, "/apis/events.k8s.io/v1/namespaces/a/events", `{"metadata":{"name":"web.1"}}`,
			Call{Kind: Event, Mutating: true, Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "a", Name: "web.1"},
		},
		"a review, which changes nothing": {
			http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "{}",
			Call{Kind: Review, Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
		},
		"a write that only asks what would become of it": {
			http.MethodPut, vms + "/web?dryRun=All", "{}",
			Call{Kind: Object, Verb: "update", Group: "compute.example.com", Resource: "virtualmachines", Namespace: "a", Name: "web"},
		},
		"discovery": {http.MethodGet, "/apis", "", Call{Kind: Other, Verb: "get"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Kubernetes(httptest.NewRequestWithContext(t.Context(), c.method, c.path, http.NoBody), []byte(c.body))
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Call{}, "Header", "Body")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheNameInAProtobufBodyIsRead(t *testing.T) {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	body, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web-connection"}})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/namespaces/a/secrets", http.NoBody)
	if got := Kubernetes(request, body).Target(); got != "secrets a/web-connection" {
		t.Errorf("got %q", got)
	}
}

func TestARequestToAProviderIsNamedByItsOperation(t *testing.T) {
	for request, want := range map[string]string{
		"POST /vms":               "create key=u/1",
		"POST /base/vms/":         "create key=u/1",
		"GET /vms?limit=500":      "list key=u/1",
		"GET /vms?key=u%2F2":      "find key=u/2",
		"GET /vms/vm-1":           "get key=u/1 id=vm-1",
		"PATCH /vms/vm-1":         "resize key=u/1 id=vm-1",
		"DELETE /base/vms/vm-1":   "delete key=u/1 id=vm-1",
		"GET /capabilities":       "capabilities key=u/1",
		"GET /vms/capabilities-1": "get key=u/1 id=capabilities-1",
	} {
		t.Run(request, func(t *testing.T) {
			method, path, _ := strings.Cut(request, " ")
			sent := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
			sent.Header.Set("Idempotency-Key", "u/1")
			call := Contract(sent, nil)
			call.Who = "p"
			if got := call.String(); got != "0 p "+want {
				t.Errorf("got %q, want %q", got, want)
			}
			if mutating := method != http.MethodGet; call.Mutating != mutating {
				t.Errorf("mutating is %v", call.Mutating)
			}
		})
	}
}
