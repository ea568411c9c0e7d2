// Package dial decides which addresses a provider's endpoint may resolve to.
//
// Users name endpoints, and the operator reaches places that they do not: its
// own pod, its node, the cloud's metadata service with the node's credentials.
// The address is checked when a connection is made, after the name was resolved,
// for a name can resolve to one address when it is looked at and to another when
// it is dialled.
package dial

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// refused are the addresses that serve machines themselves, not their users:
// this host and network, multicast, and the metadata services of clouds.
// Private networks are where many a VM API lives, and are not among them.
var refused = prefixes(
	"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32",
	"::/128", "::1/128", "fe80::/10", "ff00::/8",
	"100.100.100.200/32", // Alibaba Cloud
	"168.63.129.16/32",   // Azure
	"192.0.0.192/32",     // Oracle Cloud
	"fd00:ec2::/32",      // AWS
	"fd20:ce::254/128",   // Google Cloud
	"fd00:c1::/32",       // Oracle Cloud
)

// Prefixes whose addresses stand for an IPv4 address, and where it begins in
// them: IPv4-compatible, NAT64 (RFC 6052) and 6to4.
var embeddings = []struct {
	prefix netip.Prefix
	offset int
}{
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

// Policy says which addresses may be dialled. The zero Policy refuses all that
// serve machines themselves, and nothing else.
type Policy struct {
	allowed []netip.Prefix
}

// ParsePolicy returns a Policy that also allows the addresses in CIDRs such as
// "127.0.0.0/8", whatever else is said of them.
func ParsePolicy(cidrs []string) (Policy, error) {
	allowed := make([]netip.Prefix, 0, len(cidrs))
	for _, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return Policy{}, fmt.Errorf("%q is not a CIDR such as 10.0.0.0/8: %w", cidr, err)
		}
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		allowed = append(allowed, prefix.Masked())
	}
	return Policy{allowed: allowed}, nil
}

// Allows reports whether an address may be dialled.
func (p Policy) Allows(address netip.Addr) bool {
	if !address.IsValid() {
		return false
	}
	// A zone would keep the address from matching any prefix.
	address = address.WithZone("").Unmap()
	if within(p.allowed, address) {
		return true
	}
	inner := embedded(address)
	return !within(refused, address) && (!inner.IsValid() || !within(refused, inner))
}

// Control is a net.Dialer's ControlContext: it refuses a connection, before
// anything is sent, with a *RefusedError.
func (p Policy) Control(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%q is no address: %w", address, err)
	}
	if !p.Allows(target.Addr()) {
		return &RefusedError{Address: target.Addr()}
	}
	return nil
}

// RefusedError says that a Policy does not allow an address.
type RefusedError struct {
	// Address is what the endpoint resolved to.
	Address netip.Addr
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the address %s may not be dialled", e.Address)
}

func within(prefixes []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// embedded returns the IPv4 address that an IPv6 address leads to, or the zero
// Addr.
func embedded(address netip.Addr) netip.Addr {
	if !address.Is6() {
		return netip.Addr{}
	}
	bytes := address.As16()
	for _, embedding := range embeddings {
		if embedding.prefix.Contains(address) {
			return netip.AddrFrom4([4]byte(bytes[embedding.offset : embedding.offset+4]))
		}
	}
	return netip.Addr{}
}

func prefixes(cidrs ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, 0, len(cidrs))
	for _, cidr := range cidrs {
		parsed = append(parsed, netip.MustParsePrefix(cidr))
	}
	return parsed
}
