package system

import (
	"context"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
)

func TestTheLifeOfAVM(t *testing.T) {
	tell(t, []story{
		{"at a provider of everything", wholeLife("0.1", 3)},
		{"at a provider that makes VMs at once", wholeLife("0", 2)},
		{"at the handbook's provider", handbookLife},
		{"at a provider of the minimum", minimalLife},
		{"while its provider's API key is rotated", rotatedKey},
		{"while its provider moves to another port", movedEndpoint},
		{"while its provider is away", awayProvider},
		{"of which nothing is to be told for a long time", steadyState},
	})
}

// wholeLife measures what a VM costs, and holds it against the floor.
func wholeLife(provisionSeconds string, mostWrites int) func(*world, *metronome) {
	return func(w *world, _ *metronome) {
		p := startProvider(w.t, "--provision-seconds="+provisionSeconds)
		w.working(p.URL())
		w.providerAwaits(ready())
		begun := w.writes()
		w.vm("web")
		w.running("web")
		w.wantMachines(p, "web")
		w.wantConnection("web", machines(w.t, p)[0])
		w.settled()
		made := w.writes().since(begun)
		w.t.Logf("from apply to Running: writes: %s; calls: %s", made, tally(calls(w.t, p)))
		if got := made.of("virtualmachines"); got > mostWrites {
			w.t.Errorf("%d writes to the VirtualMachine until it ran, want at most %d", got, mostWrites)
		}

		ran, called := w.writes(), calls(w.t, p)
		w.deleted("web")
		w.settled()
		gone, calledSince := w.writes().since(ran), tally(calls(w.t, p)).since(called)
		w.t.Logf("from delete to gone: writes: %s; calls: %s", gone, calledSince)
		if got := gone.of("virtualmachines"); got != 1 {
			w.t.Errorf("%d writes to the VirtualMachine until it was gone, want 1", got)
		}
		if left := machines(w.t, p); len(left) > 0 {
			w.t.Errorf("left at the provider: %v", left)
		}
		all := tally(calls(w.t, p))
		if want := (tally{"create": 1, "delete": 1, "get": all["get"], "capabilities": all["capabilities"]}); !maps.Equal(all, want) {
			w.t.Errorf("calls in a life: %s; want one POST, one DELETE, and GETs", all)
		}
	}
}

func ready() condition {
	return condition{computev1.ConditionReady, isTrue, computev1.ReasonProbed, nil}
}

// wantConnection waits until the Service is there and the Secret tells the VM's id.
// The status may be a moment ahead of them: an id is stored before all else.
func (w *world) wantConnection(name, id string) {
	w.t.Helper()
	secret := &corev1.Secret{ObjectMeta: w.meta(name + "-connection")}
	service := &corev1.Service{ObjectMeta: w.meta(name)}
	operator.WaitFor(w.t, "Secret and Service of "+name, func(ctx context.Context) bool {
		for _, object := range []client.Object{secret, service} {
			if kube.Get(ctx, client.ObjectKeyFromObject(object), object) != nil {
				return false
			}
		}
		return string(secret.Data["id"]) == id
	})
}

func handbookLife(w *world, _ *metronome) {
	printed := &text{}
	p := startProviderWith(w.t, mockprovider.Options{Handbook: true, Args: []string{"--provision-seconds=0.1"}, Output: printed})
	w.working(p.URL())
	w.vm("web")
	id := w.running("web").Status.ID
	w.wantConnection("web", id)
	w.deleted("web")
	if status := ask(w.t, p.URL()+"/vms/"+id); status != http.StatusNotFound {
		w.t.Errorf("the object is gone, and its VM answers with status %d", status)
	}
	if posts := strings.Count(string(printed.bytes()), `"POST /vms`); posts != 1 {
		w.t.Errorf("%d POSTs for one VM", posts)
	}
}

func ask(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func minimalLife(w *world, _ *metronome) {
	p := startProvider(w.t, "--minimal")
	w.working(p.URL())
	w.vm("web")
	w.wantMachines(p, "web")
	w.deleted("web")
	if all := calls(w.t, p); all["create"] != 1 || all["delete"] != 1 || len(machines(w.t, p)) > 0 {
		w.t.Errorf("calls in a life: %v, left: %v", all, machines(w.t, p))
	}
}

// rotatedKey: the provider takes another key from now on, and the Secret follows
// later.
func rotatedKey(w *world, m *metronome) {
	p := startProvider(w.t)
	w.working(p.URL())
	w.vm("web")
	before := w.running("web").Status.ID
	const second = marker + "-second"
	if err := p.SetAPIKey(second); err != nil {
		w.t.Fatal(err)
	}
	config := condition{computev1.ConditionReady, isFalse, computev1.ReasonUnauthorized, []string{"refuses the API key"}}
	w.keptThough(config)
	w.staysCalm(m, w.callsOf(p), map[string]int{"capabilities": 1, "get": 1}, w.both()...)

	w.key(second)
	w.told(pcKind, computev1.DefaultProviderConfig, corev1.EventTypeNormal, "CredentialsRotated")
	if after := w.running("web").Status.ID; after != before {
		w.t.Errorf("the VM was %s and is %s", before, after)
	}
	w.wantMachines(p, "web")
}

// keptThough: what was last seen of the VM still stands; whether it is as declared,
// nobody knows.
func (w *world) keptThough(config condition) {
	w.t.Helper()
	w.providerAwaits(config)
	w.warned(pcKind, computev1.DefaultProviderConfig, config)
	unknown := condition{computev1.ConditionSynced, metav1.ConditionUnknown, computev1.ReasonProviderNotReady, config.words}
	w.awaits("web", unknown)
	w.warned(vmKind, "web", unknown)
	w.awaits("web", condition{computev1.ConditionReady, isTrue, computev1.ReasonRunning, nil})
}

// awayProvider: the provider stops, and comes back where it was with what it had.
func awayProvider(w *world, m *metronome) {
	data := "--data=" + filepath.Join(w.t.TempDir(), "vms.db")
	p := startProvider(w.t, data)
	w.working(p.URL())
	w.vm("web")
	before := w.running("web").Status.ID
	if err := p.Stop(); err != nil {
		w.t.Fatal(err)
	}
	w.keptThough(condition{computev1.ConditionReady, isFalse, computev1.ReasonUnreachable, []string{"no connection to " + p.URL()}})
	w.staysCalm(m, nothing, nil, w.both()...)

	again := startProviderWith(w.t, mockprovider.Options{Args: []string{"--enable-faults", data}, APIKey: apiKey, Port: p.Port()})
	if after := w.running("web").Status.ID; after != before {
		w.t.Errorf("the VM was %s and is %s", before, after)
	}
	if got := calls(w.t, again); got["create"]+got["delete"] > 0 {
		w.t.Errorf("the return led to %v", got)
	}
}

func movedEndpoint(w *world, _ *metronome) {
	p := startProvider(w.t, "--data="+filepath.Join(w.t.TempDir(), "vms.db"))
	w.working(p.URL())
	names, before := []string{"web-1", "web-2", "web-3"}, map[string]string{}
	for _, name := range names {
		w.vm(name)
	}
	for _, name := range names {
		before[name] = w.running(name).Status.ID
	}
	if err := p.Restart(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.moveTo(p.URL())
	if got := w.providerAwaits(ready()).Status.Endpoint; got != p.URL() {
		w.t.Errorf("the accepted endpoint is %s, want %s", got, p.URL())
	}
	for _, name := range names {
		awaitRequests(w.t, p, "a look at "+name, func(all []mockprovider.Request) bool {
			return slices.ContainsFunc(all, func(r mockprovider.Request) bool {
				return r.Operation == "list" || r.Operation == "get" && r.ID == before[name]
			})
		})
		if after := w.running(name).Status.ID; after != before[name] {
			w.t.Errorf("%s was %s and is %s", name, before[name], after)
		}
	}
	// The ledger began anew with the restart.
	if got := calls(w.t, p); got["create"]+got["delete"]+got["resize"] > 0 {
		w.t.Errorf("the move led to %v", got)
	}
}

// steadyState: VMs are listed, and nothing is written.
func steadyState(w *world, _ *metronome) {
	const rounds = 4
	p := startProvider(w.t)
	w.working(p.URL())
	names := []string{"web-1", "web-2", "web-3", "web-4", "web-5"}
	for _, name := range names {
		w.vm(name)
	}
	w.wantMachines(p, names...)
	config := w.providerAwaits(ready())
	operator.WaitFor(w.t, "all to be counted", func(ctx context.Context) bool {
		err := kube.Get(ctx, client.ObjectKeyFromObject(config), config)
		return err == nil && int(config.Status.VirtualMachines) == len(names)
	})
	w.settled()
	before, looks, lists := w.writes(), calls(w.t, p)["get"], listsOf(requests(w.t, p))
	awaitRequests(w.t, p, "lists of VMs that do not change", func(all []mockprovider.Request) bool { return listsOf(all) >= lists+rounds })
	if written := w.writes().since(before); len(written) > 0 {
		w.t.Errorf("written while nothing happened: %s", written)
	}
	if more := calls(w.t, p)["get"] - looks; more > 0 {
		w.t.Errorf("%d VMs were looked at by themselves", more)
	}
	w.t.Logf("%d lists of %d VMs: no write", listsOf(requests(w.t, p))-lists, len(names))
}

// settled waits until the events of what has happened are stored: they are sent
// behind the operator's back.
func (w *world) settled() {
	w.t.Helper()
	const most = 100
	last := w.writes().String()
	for range most {
		now := w.writes().String()
		if now == last {
			return
		}
		last = now
	}
	w.t.Fatalf("the writes do not end: %s", last)
}
