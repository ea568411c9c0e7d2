package virtualmachine

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	discoveryv1 "k8s.io/api/discovery/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/condition"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/crdschema"
)

// bounds of the apiserver's.
const (
	maxEventNote = 1024 // bytes
	maxEndpoints = 1000 // in an EndpointSlice
)

// fuzzKey is the API key of the fuzzed provider's; it may appear nowhere.
const fuzzKey = "a-very-long-secret-key"

// FuzzProviderData leads what a provider answers all the way: over the wire, into
// status, children and events. The apiserver must take what comes of it.
func FuzzProviderData(f *testing.F) {
	for _, seed := range []struct {
		status     int
		body, name string
	}{
		{200, `{"id":"vm-1","phase":"Running","cpu":2,"memory":"4Gi","addresses":["192.0.2.1","2001:db8::1"]}`, "web"},
		{200, `{"id":"vm-1","phase":"e\u0301\ud83d\ude00\u05d0","memory":"1E","addresses":["::ffff:192.0.2.1","127.0.0.1"]}`, "0web.example.com"},
		{200, `{"id":"` + strings.Repeat("v", 256) + `","addresses":[` + addresses(64) + `]}`, strings.Repeat("a", 253)},
		{200, `{"id":"vm-1","phase":"Provisioning","memory":".5n"}`, "a." + strings.Repeat("b", 62) + ".c"},
		{422, `{"detail":"` + strings.Repeat("😀", 2000) + fuzzKey + `"}`, strings.Repeat("a", 63)},
		{422, `{"detail":"a-very-long-\u200bsecret-key \u0000\u202e"}`, "web"},
		{200, `{"id":"..","phase":"` + fuzzKey + `"}`, "web"},
		{503, fuzzKey, "web"},
		{404, "", "web"},
		{200, "<html>", "web"},
	} {
		f.Add(seed.status, seed.body, seed.name)
	}
	schema, err := crdschema.Load(crdschema.VirtualMachines)
	if err != nil {
		f.Fatal(err)
	}
	var answer atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer.Load().(func(http.ResponseWriter))(w) }))
	f.Cleanup(server.Close)
	connection := connectLocal(f, server.URL)
	f.Fuzz(func(t *testing.T, status int, body, name string) {
		if status < 200 || status > 599 || len(validation.IsDNS1123Subdomain(name)) > 0 {
			return
		}
		answer.Store(func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
		vm := builders.VirtualMachine("team", name)
		vm.UID = "5f0c"
		p := &pass{vm: vm, seen: &sighting{}}
		p.machine, p.fault = connection.Create(t.Context(), "5f0c/1", provider.CreateRequest{})
		wantStatus(t, schema, p)
		if p.fault == nil {
			wantChildren(t, vm, p.machine)
		}
	})
}

func addresses(n int) string {
	list := make([]string, 0, n)
	for i := range n {
		list = append(list, fmt.Sprintf(`"192.0.2.%d"`, i))
	}
	return strings.Join(list, ",")
}

func connectLocal(f *testing.F, url string) *httpapi.Client {
	f.Helper()
	policy, err := dial.ParsePolicy([]string{"127.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	connection, err := httpapi.New(httpapi.Options{Endpoint: url, APIKey: fuzzKey, Dial: policy})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(connection.Close)
	return connection
}

// wantStatus fails unless the apiserver takes the status and the events of a pass.
func wantStatus(t *testing.T, schema *crdschema.Schema, p *pass) {
	t.Helper()
	state := decide.State{Finalizer: true, Provider: decide.ProviderReady, Idempotent: true, Intent: decide.IntentFresh, Fault: fault(p.fault)}
	if p.machine.ID != "" {
		p.seen.machine = p.machine
		state.Machine, state.Size = decide.MachineSettled, decide.SizeSame
	}
	stored := p.vm.DeepCopy()
	stored.Status = nextStatus(p, state, decide.Decide(state), nil, time.Unix(0, 0))
	if err := schema.Validate(stored); err != nil {
		t.Errorf("the apiserver refuses the status: %v", err)
	}
	if p.machine.ID != "" && stored.Status.ID != p.machine.ID {
		t.Errorf("the id %q is stored as %q", p.machine.ID, stored.Status.ID)
	}
	for _, h := range turns(nil, stored.Status.Conditions) {
		wantShown(t, p, condition.Shorten(h.Note))
	}
	for _, condition := range stored.Status.Conditions {
		wantShown(t, p, condition.Message)
		if condition.Reason == "" {
			t.Errorf("condition %s has no reason", condition.Type)
		}
	}
}

// wantShown fails unless a text may be shown to anybody. A provider that calls a
// phase by its own key shows it itself; one that tells it in an error does not.
func wantShown(t *testing.T, p *pass, text string) {
	t.Helper()
	leaks := p.fault != nil && strings.Contains(text, fuzzKey)
	if len(text) > maxEventNote || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\n\u202e") || leaks {
		t.Errorf("%d bytes are shown: %q", len(text), text)
	}
}

// wantChildren fails unless the apiserver takes the children of a VM.
func wantChildren(t *testing.T, vm *computev1.VirtualMachine, machine provider.Machine) {
	t.Helper()
	published := publishable(machine.Addresses, nil)
	wanted := desiredChildren(vm, machine, published)
	wantMetadata(t, wanted.secret, apivalidation.NameIsDNSSubdomain)
	wantMetadata(t, wanted.service, apivalidation.NameIsDNS1035Label)
	if string(wanted.secret.Data[connectionID]) != machine.ID {
		t.Errorf("the Secret tells the id %q of %q", wanted.secret.Data[connectionID], machine.ID)
	}
	found := 0
	for family, slice := range wanted.slices {
		if slice == nil {
			continue
		}
		wantMetadata(t, slice, apivalidation.NameIsDNSSubdomain)
		if len(slice.Endpoints) > maxEndpoints || slice.Labels[discoveryv1.LabelServiceName] != wanted.service.Name {
			t.Errorf("slice of %d endpoints for %q", len(slice.Endpoints), slice.Labels[discoveryv1.LabelServiceName])
		}
		for _, endpoint := range slice.Endpoints {
			found++
			address, err := netip.ParseAddr(endpoint.Addresses[0])
			if err != nil || familyOf(address) != family || address.IsLoopback() || address.IsLinkLocalUnicast() || len(endpoint.Addresses) != 1 {
				t.Errorf("%s in a slice of %s", endpoint.Addresses, family)
			}
		}
	}
	if found != len(published) {
		t.Errorf("%d of %d addresses are published", found, len(published))
	}
}

func wantMetadata(t *testing.T, child client.Object, validName apivalidation.ValidateNameFunc) {
	t.Helper()
	meta := metav1.ObjectMeta{
		Name: child.GetName(), Namespace: child.GetNamespace(), Labels: child.GetLabels(), OwnerReferences: child.GetOwnerReferences(),
	}
	problems := apivalidation.ValidateObjectMeta(&meta, true, validName, field.NewPath("metadata"))
	problems = append(problems, metav1validation.ValidateLabels(meta.Labels, field.NewPath("labels"))...)
	if len(problems) > 0 {
		t.Errorf("%s: %v", describe(child), problems)
	}
}
