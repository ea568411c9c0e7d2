package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example/vmoperator/src/provider"
)

// machineOf decodes a body as Client.machine does.
func machineOf(body string) (provider.Machine, error) {
	wire, err := decode[wireMachine]([]byte(body))
	if err != nil {
		return provider.Machine{}, err
	}
	return wire.machine()
}

func TestAVMIsReadAsTheContractSays(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		body string
		want provider.Machine
	}{
		"the minimum": {
			`{"id":"vm-1","image":"ubuntu","phase":"Running"}`,
			provider.Machine{ID: "vm-1", Image: "ubuntu", Phase: provider.PhaseRunning},
		},
		"everything, and what nobody knows": {
			`{"id":"a~B.9_-","name":"web","image":"i","phase":"Stopped","cpu":2.0,"memory":"4Gi",
			  "addresses":["192.0.2.1","2001:DB8::1"],"labels":{"a/b":"","c":"d"},"key":"k","power":{"on":true}}`,
			provider.Machine{
				ID: "a~B.9_-", Name: "web", Image: "i", Phase: "Stopped", CPU: 2, Memory: "4Gi",
				Addresses: []string{"192.0.2.1", "2001:db8::1"}, Labels: map[string]string{"a/b": "", "c": "d"},
			},
		},
		"what is out of bounds counts as not told": {
			`{"id":"vm-1","name":"\u0000","image":"` + strings.Repeat("i", 257) + `","phase":"Run\nning","cpu":-1,"memory":"lots",
			  "addresses":["web.example.com","192.0.2.1/24","fe80::1%eth0","","192.0.2.2"],"labels":{"a":"\u0007"}}`,
			provider.Machine{ID: "vm-1", Addresses: []string{"192.0.2.2"}},
		},
		"half a CPU and no memory":      {`{"id":"vm-1","cpu":1.5,"memory":"0"}`, provider.Machine{ID: "vm-1"}},
		"more CPUs than there are":      {`{"id":"vm-1","cpu":1e300}`, provider.Machine{ID: "vm-1"}},
		"a phase of the provider's own": {`{"id":"vm-1","phase":"Migrating"}`, provider.Machine{ID: "vm-1", Phase: "Migrating"}},
		"null is nothing": {
			`{"id":"vm-1","cpu":null,"memory":null,"addresses":null,"labels":null}`,
			provider.Machine{ID: "vm-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := machineOf(row.body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnAnswerThatIsNoVMIsRefused(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, ` `, `null`, `[]`, `"vm-1"`, `{}`, `{"id":""}`, `{"id":null}`, `{"id":1}`, `{"id":"vm-1"`, `{"id":"vm-1"}}`,
		`{"id":"vm-1"}{"id":"vm-2"}`, `{"id":"vm-1","cpu":"2"}`, `{"id":"vm-1","addresses":"192.0.2.1"}`,
		`{"id":"."}`, `{"id":".."}`, `{"id":"../vms"}`, `{"id":"a/b"}`, `{"id":"a?b"}`, `{"id":"a%2fb"}`, `{"id":"a b"}`,
		`{"id":"ä"}`, `{"id":"a\n"}`, `{"id":"` + strings.Repeat("a", 257) + `"}`,
	} {
		if machine, err := machineOf(body); err == nil {
			t.Errorf("%s is read as %+v", body, machine)
		} else if strings.Contains(err.Error(), "vm-") {
			t.Errorf("%s: the error quotes the answer: %v", body, err)
		}
	}
}

func TestOnlyAWholePageIsAPage(t *testing.T) {
	t.Parallel()
	for body, valid := range map[string]bool{
		`{"items":[],"next":""}`:               true,
		`{"items":[{"id":"vm-1"}],"next":"c"}`: true,
		`{}`:                                   false,
		`{"items":[]}`:                         false,
		`{"next":""}`:                          false,
		`{"items":null,"next":""}`:             false,
		`{"items":[],"next":null}`:             false,
		`[]`:                                   false,
		`{"items":[{"id":"vm-1"},{"id":""}],"next":""}`:                              false,
		`{"items":[],"next":"` + strings.Repeat("c", 1025) + `"}`:                    false,
		`{"items":[` + strings.Repeat(`{"id":"a"},`, 500) + `{}],"next":""}`:         false,
		`{"items":[` + strings.Repeat(`{"id":"a"},`, 499) + `{}],"next":""}`:         false,
		`{"items":[{"id":"a"}` + strings.Repeat(`,{"id":"a"}`, 499) + `],"next":""}`: true,
	} {
		page, err := decodePage([]byte(body))
		if err == nil {
			_, err = page.page()
		}
		if (err == nil) != valid {
			t.Errorf("%.60s: error %v, want valid=%t", body, err, valid)
		}
	}
}

func TestCapabilitiesAreReadAsTheContractSays(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 100)
	for i := range 100 {
		many = append(many, "a"+strings.Repeat("b", i%60))
	}
	text, err := json.Marshal(append(many, "list"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeCapabilities([]byte(`{"identity":"x","settleSeconds":1e300,"capabilities":` + string(text) + `}`))
	if err != nil || len(got.Offered) != maxOffered || !got.Has(provider.CapabilityList) || got.Settle != maxSettle {
		t.Errorf("%+v, error %v", got, err)
	}
	got, err = decodeCapabilities([]byte(
		`{"identity":"acme","settleSeconds":0.5,"capabilities":["resize","list","list","teleport","no good","` +
			strings.Repeat("x", 65) + `"]}`))
	want := provider.Capabilities{
		Identity: "acme", Settle: 500 * time.Millisecond, Offered: []string{"list", "resize", "teleport"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, body := range []string{
		`[]`, `{"identity":1}`, `{"identity":"a\u0007"}`, `{"identity":"` + strings.Repeat("x", 254) + `"}`,
		`{"settleSeconds":-1}`, `{"settleSeconds":"1"}`, `{"settleSeconds":1e400}`, `{"capabilities":"list"}`,
	} {
		if got, err := decodeCapabilities([]byte(body)); err == nil {
			t.Errorf("%s is read as %+v", body, got)
		}
	}
}
