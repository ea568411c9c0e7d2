package httpapi

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example/vmoperator/src/provider"
)

// wantPlain fails unless a text of the provider's is one that every object, log
// and terminal can show.
func wantPlain(t *testing.T, text string, longest int) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unprintable) || utf8.RuneCountInString(text) > longest {
		t.Errorf("%q is kept", text)
	}
}

// wantUsable fails unless a decoded VM is within its bounds.
func wantUsable(t *testing.T, machine *provider.Machine) {
	t.Helper()
	if !safeID.MatchString(machine.ID) || machine.CPU < 0 || machine.CPU > maxCPU ||
		len(machine.Addresses) > maxAddresses || len(machine.Labels) > maxLabels {
		t.Errorf("%+v", machine)
	}
	wantPlain(t, machine.Name, maxName)
	wantPlain(t, machine.Image, maxImage)
	wantPlain(t, string(machine.Phase), maxPhase)
	wantPlain(t, machine.Memory, maxMemory)
	if machine.Memory != "" {
		if quantity, err := resource.ParseQuantity(machine.Memory); err != nil || quantity.Sign() <= 0 {
			t.Errorf("memory %q is kept: %v", machine.Memory, err)
		}
	}
	for _, text := range machine.Addresses {
		if address, err := netip.ParseAddr(text); err != nil || address.Zone() != "" || address.String() != text {
			t.Errorf("address %q is kept", text)
		}
	}
	for name, value := range machine.Labels {
		wantPlain(t, name, maxLabelName)
		wantPlain(t, value, maxLabelValue)
	}
}

// wantSame fails unless a VM that was decoded and is sent again is decoded the
// same: what is kept, is kept as it is.
func wantSame(t *testing.T, machine provider.Machine) {
	t.Helper()
	body, err := json.Marshal(wireMachine{
		ID: machine.ID, Name: machine.Name, Image: machine.Image, Phase: string(machine.Phase), CPU: float64(machine.CPU),
		Memory: machine.Memory, Addresses: machine.Addresses, Labels: machine.Labels,
	})
	if err != nil {
		t.Fatal(err)
	}
	again, err := machineOf(string(body))
	if err != nil {
		t.Fatalf("%s is refused: %v", body, err)
	}
	if diff := cmp.Diff(machine, again); diff != "" {
		t.Error(diff)
	}
}

// quoteless fails if an error of the decoder repeats what was decoded. The words
// of the seeds' that begin with quoted are nowhere in the decoder's own.
func quoteless(t *testing.T, err error) {
	t.Helper()
	const longest = 200
	if text := err.Error(); strings.Contains(text, "quoted") || len(text) > longest || !utf8.ValidString(text) ||
		strings.ContainsFunc(text, unprintable) {
		t.Errorf("the error shows what it must not: %q", text)
	}
}

func FuzzMachine(f *testing.F) {
	for _, seed := range []string{
		`{"id":"vm-1","image":"ubuntu","phase":"Running","cpu":2,"memory":"4Gi","addresses":["192.0.2.1"],"labels":{"a":"b"}}`,
		`{"id":"vm-1"`, `{"id":"..","cpu":1e9}`, `{"id":"a","phase":"\u202e"}`, `{"id":"a","memory":"1e3"}`, `<html>`, `null`,
		`{"id":"a","memory":"` + strings.Repeat("9", 62) + `Ei"}`, `{"id":"a","memory":".0000000000000000001n"}`,
		`{"id":"a","cpu":1048576.0000000001}`, `{"id":"a","cpu":1048577}`, `{"id":"a","cpu":-0.0}`,
		`{"id":"a","name":"e\u0301 \u0000 \ud83d\ude00 \u05d0\u200f"}`, `{"id":"a","phase":"` + strings.Repeat("ä", 65) + `"}`,
		`{"id":"a","addresses":["::ffff:192.0.2.1","fe80::1%eth0","2001:DB8:0::1","192.0.2.01"]}`,
		`{"id":"a","labels":{"":"x"}}`, `{"id":"a","labels":{"quoted\u0007":"x"}}`, `{"id":"quoted/quoted"}`, `{"quoted":`,
		`{"id":{"quoted":1}}`, `{"id":"a","ID":"quoted b"}`, `[` + strings.Repeat(`[`, 10001), "\xff\xfe{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		machine, err := machineOf(body)
		if err != nil {
			quoteless(t, err)
			return
		}
		wantUsable(t, &machine)
		wantSame(t, machine)
	})
}

func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`{"items":[{"id":"vm-1"}],"next":"abc"}`, `{"items":[],"next":""}`, `{"items":null}`, `{"items":[{}],"next":""}`, `[]`,
		`{"items":[{"id":"a"},{"id":"a"}],"next":"\u0000"}`, `{"items":[{"id":"quoted "}],"next":""}`,
		`{"items":[{"id":"a"}` + strings.Repeat(`,{"id":"a"}`, 500) + `],"next":""}`,
		`{"items":[],"next":"` + strings.Repeat("c", 1025) + `"}`, `{"items":{},"next":""}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		wire, err := decodePage([]byte(body))
		if err != nil {
			quoteless(t, err)
			return
		}
		page, err := wire.page()
		if err != nil {
			quoteless(t, err)
			return
		}
		if len(page.Items) != len(*wire.Items) || len(page.Items) > pageSize || len(page.Next) > maxCursor {
			t.Errorf("%d of %d VMs are left, and a cursor of %d bytes", len(page.Items), len(*wire.Items), len(page.Next))
		}
		for i := range page.Items {
			wantUsable(t, &page.Items[i])
		}
	})
}

func FuzzCapabilities(f *testing.F) {
	for _, seed := range []string{
		`{"identity":"acme","settleSeconds":1.5,"capabilities":["list","x"]}`, `{}`, `{"settleSeconds":1e308}`, `null`,
		`{"settleSeconds":-0.0}`, `{"settleSeconds":5e-324}`, `{"settleSeconds":86399.9999999999}`, `{"identity":"\u202equoted"}`,
		`{"identity":" "}`, `{"capabilities":["LIST","list","list",""," list","l\u0131st"]}`, `{"capabilities":{"quoted":1}}`,
		`{"identity":"` + strings.Repeat("😀", 254) + `"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := decodeCapabilities([]byte(body))
		if err != nil {
			quoteless(t, err)
			return
		}
		wantPlain(t, got.Identity, maxIdentity)
		if got.Settle < 0 || got.Settle > maxSettle || len(got.Offered) > maxOffered {
			t.Errorf("%+v", got)
		}
		if !slices.IsSorted(got.Offered) || len(slices.Compact(slices.Clone(got.Offered))) != len(got.Offered) {
			t.Errorf("%q is offered, unsorted or twice", got.Offered)
		}
		for _, name := range got.Offered {
			if !capabilityName.MatchString(name) {
				t.Errorf("%q is offered", name)
			}
		}
	})
}
