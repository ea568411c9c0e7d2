package dial

import (
	"net/netip"
	"strings"
	"testing"
)

func FuzzPolicy(f *testing.F) {
	for _, seed := range []struct{ cidr, address string }{
		{"127.0.0.0/8", "127.0.0.1"},
		{"::ffff:127.0.0.0/104", "::ffff:127.0.0.1"},
		{"::ffff:0.0.0.0/95", "169.254.169.254"},
		{"10.0.0.1/8", "64:ff9b::7f00:1"},
		{"::/0", "2002:7f00:1::"},
		{"fe80::1/64", "fe80::1%eth0"},
		{"10.0.0.0", "not an address"},
		{"0.0.0.0/0\nx", "::127.0.0.1"},
	} {
		f.Add(seed.cidr, seed.address)
	}
	f.Fuzz(func(t *testing.T, cidr, text string) {
		policy, err := ParsePolicy([]string{cidr})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			policy = Policy{}
		}
		address, err := netip.ParseAddr(text)
		if err != nil {
			if policy.Allows(address) {
				t.Errorf("no address is allowed by %q", cidr)
			}
			return
		}
		plain := address.WithZone("").Unmap()
		inside := within(policy.allowed, plain)
		switch allowed := policy.Allows(address); {
		case inside && !allowed:
			t.Errorf("%s is in %s, and refused", address, cidr)
		case !inside && allowed && (plain.IsLoopback() || plain.IsUnspecified() || plain.IsLinkLocalUnicast() || plain.IsMulticast()):
			t.Errorf("%s is allowed, though only %s is named", address, cidr)
		case !inside && allowed != (Policy{}).Allows(address):
			t.Errorf("%s is not in %s, which changes its verdict", address, cidr)
		}
	})
}
