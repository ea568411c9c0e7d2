package main

import (
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func FuzzCIDRFlags(f *testing.F) {
	for _, seed := range []string{
		"", "192.0.2.0/24", " 192.0.2.7/24 , 2001:db8::1/32,", "::ffff:192.0.2.0/120", "192.0.2.0", "0.0.0.0/0", "10.0.0.0/33",
		"10.0.0.0/08", "fe80::%eth0/64", "1.2.3.4/5\n6", "\xff", ",,,", "١٠.0.0.0/8",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, name := range []string{"--vm-address-cidrs", "--allow-endpoint-cidrs"} {
			o, err := parse([]string{name + "=" + value}, io.Discard)
			if err != nil {
				if strings.ContainsAny(err.Error(), "\r\n") {
					t.Errorf("%s: the error has more than one line: %q", name, err)
				}
				continue
			}
			shown := make([]string, 0, len(o.vmAddresses))
			for _, prefix := range o.vmAddresses {
				if !prefix.IsValid() || prefix != prefix.Masked() {
					t.Errorf("%q is read as %v", value, prefix)
				}
				shown = append(shown, prefix.String())
			}
			var again []netip.Prefix
			if err := parsePrefixes(strings.Join(shown, ","), &again); err != nil || !slices.Equal(again, o.vmAddresses) {
				t.Errorf("%q is read as %v, and that as %v: %v", value, o.vmAddresses, again, err)
			}
		}
	})
}
