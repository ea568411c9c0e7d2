package rights

// operates is a purpose of the operator's in each watched namespace.
func operates(group, resource string, seen Seen, purpose string, verbs ...string) Purpose {
	return Purpose{Holder: Operator, Group: group, Resource: resource, Verbs: verbs, For: purpose, Seen: seen}
}

// besideWatch is a list that no call is seen of: the cache asks for it only where
// the server does not stream.
func besideWatch(group, resource, purpose string) Purpose {
	p := operates(group, resource, Never, purpose, "list")
	p.Why = beside
	return p
}

func ownKinds() []Purpose {
	return []Purpose{
		operates(compute, vms, Always, "cache", "watch"),
		operates(compute, vms, Always, "ask past the cache whether any refers to a ProviderConfig", "list"),
		operates(compute, vms, Rarely, "read past the cache one that somebody else changes at the same time, and the owner of what looks like an orphan", "get"),
		operates(compute, vms, Always, "finalizer and create key", "patch"),
		operates(compute, vms+"/status", Always, "what is known of the VM", "patch"),
		operates(compute, configs, Always, "cache", "watch"),
		operates(compute, configs, Always, "read past the cache, so that a change that was just made counts", "get"),
		operates(compute, configs, Rarely, "ask past the cache whether any needs a Secret, before that is let go", "list"),
		operates(compute, configs, Always, "finalizer", "patch"),
		operates(compute, configs+"/status", Always, "what is known of the provider; VMs that are retained", "patch"),
	}
}

func secrets() []Purpose {
	return []Purpose{
		operates("", "secrets", Always, "cache, of those with our label alone", "watch"),
		operates("", "secrets", Rarely, "cache, where the server does not stream; with `rbac.survivesNamespaceDeletion`, ask past it whether one is left that needs the operator", "list"),
		operates("", "secrets", Always, "connection Secrets", "create"),
		operates("", "secrets", Rarely, "put right a connection Secret that somebody has changed", "update"),
		operates("", "secrets", Rarely, "read credentials and CA certificates by name, and what stands where a connection Secret belongs", "get"),
		operates("", "secrets", Rarely, "label and finalizer of credentials in use", "patch"),
	}
}

func otherChildren() []Purpose {
	const discovery, slices = "discovery.k8s.io", "endpointslices"
	return []Purpose{
		operates("", "services", Always, "cache, of those with our label alone", "watch"),
		besideWatch("", "services", "cache"),
		operates("", "services", Always, "the Service of a VM", "create"),
		operates("", "services", Rarely, "follow the ports of a VM", "update"),
		operates("", "services", Rarely, "read what stands where a Service belongs", "get"),
		operates(discovery, slices, Always, "cache, of those with our label alone", "watch"),
		besideWatch(discovery, slices, "cache"),
		operates(discovery, slices, Always, "the addresses of a VM", "create"),
		operates(discovery, slices, Rarely, "follow addresses, ports and readiness of a VM", "update"),
		operates(discovery, slices, Rarely, "remove one without an address", "delete"),
		operates(discovery, slices, Rarely, "read what stands where an EndpointSlice belongs", "get"),
	}
}

// told is what others get to know.
func told() []Purpose {
	claim := operates(leaseKind, leases, Always, "renew the claim to the namespace", "get", "update")
	claim.Name = "vmoperator-scope"
	return []Purpose{
		operates("events.k8s.io", "events", Always, "events", "create"),
		operates("events.k8s.io", "events", Rarely, "count an event that repeats, with nothing changed in between", "patch"),
		operates(leaseKind, leases, Always, "claim the namespace", "create"),
		claim,
	}
}
