package dial_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/example/vmoperator/src/provider/httpapi/dial"
)

func TestAddressesThatServeMachinesThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.0.1", "169.254.169.254", "169.254.170.2", "224.0.0.1", "255.255.255.255",
		"::", "::1", "fe80::1", "fe80::1%eth0", "ff02::1", "fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe",
		"100.100.100.200", "168.63.129.16", "192.0.0.192",
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::169.254.169.254", "2002:7f00:1::1",
	} {
		if (dial.Policy{}).Allows(netip.MustParseAddr(address)) {
			t.Errorf("%s is allowed", address)
		}
	}
	if (dial.Policy{}).Allows(netip.Addr{}) {
		t.Error("the zero address is allowed")
	}
}

func TestAddressesOfNetworksAreAllowed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "192.0.2.1", "100.64.0.1", "8.8.8.8", "2001:db8::1", "fd12:3456::1",
		"::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::1",
	} {
		if !(dial.Policy{}).Allows(netip.MustParseAddr(address)) {
			t.Errorf("%s is refused", address)
		}
	}
}

func TestNamedCIDRsAreAllowed(t *testing.T) {
	t.Parallel()
	policy, err := dial.ParsePolicy([]string{"127.0.0.0/8", "::1/128", "169.254.169.254/32"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"127.0.0.1": true, "::ffff:127.0.0.1": true, "::1": true, "169.254.169.254": true,
		"169.254.169.253": false, "fe80::1": false, "0.0.0.0": false,
	} {
		if got := policy.Allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("Allows(%s) = %t, want %t", address, got, want)
		}
	}
}

func TestACIDRIsReadAsItIsMeant(t *testing.T) {
	t.Parallel()
	for _, cidr := range []string{"127.0.0.1/8", "::ffff:127.0.0.0/104"} {
		policy, err := dial.ParsePolicy([]string{cidr})
		if err != nil {
			t.Fatal(err)
		}
		if !policy.Allows(netip.MustParseAddr("127.9.9.9")) {
			t.Errorf("%s does not allow 127.9.9.9", cidr)
		}
	}
	for _, cidr := range []string{"", "localhost", "127.0.0.1", "10.0.0.0/33"} {
		if _, err := dial.ParsePolicy([]string{cidr}); err == nil {
			t.Errorf("%q is accepted", cidr)
		}
	}
}

func TestADialerWithTheControlRefusesAResolvedAddress(t *testing.T) {
	t.Parallel()
	var refused *dial.RefusedError
	dialer := net.Dialer{ControlContext: dial.Policy{}.Control}
	for _, address := range []string{"localhost:1", "127.0.0.1:1", "[::1]:1"} {
		if _, err := dialer.DialContext(context.Background(), "tcp", address); !errors.As(err, &refused) {
			t.Errorf("dialling %s: %v, want a refusal", address, err)
		}
	}
}
