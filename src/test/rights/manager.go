package rights

// operator is a purpose of the operator's in each watched namespace.
func operator(group, resource string, seen Seen, purpose string, verbs ...string) Purpose {
	return Purpose{Holder: Operator, Group: group, Resource: resource, Verbs: verbs, For: purpose, Seen: seen}
}

// never is a purpose that no call is seen of.
func never(group, resource, purpose, why string, verbs ...string) Purpose {
	p := operator(group, resource, Never, purpose, verbs...)
	p.Why = why
	return p
}

func ownKinds() []Purpose {
	return []Purpose{
		operator(compute, vms, Always, "cache", "watch"),
		operator(compute, vms, Always, "ask past the cache whether any refers to a ProviderConfig", "list"),
		operator(compute, vms, Rarely, "read past the cache one that somebody else changes at the same time, and the owner of what looks like an orphan", "get"),
		operator(compute, vms, Always, "finalizer and create key", "patch"),
		operator(compute, vms+"/status", Always, "what is known of the VM", "patch"),
		operator(compute, configs, Always, "cache", "watch"),
		operator(compute, configs, Always, "read past the cache, so that a change that was just made counts", "get"),
		operator(compute, configs, Rarely, "ask past the cache whether any needs a Secret, before that is let go", "list"),
		operator(compute, configs, Always, "finalizer", "patch"),
		operator(compute, configs+"/status", Always, "what is known of the provider; VMs that are retained", "patch"),
	}
}

func secrets() []Purpose {
	return []Purpose{
		operator("", "secrets", Always, "cache, of those with our label alone", "watch"),
		operator("", "secrets", Rarely, "cache, where the server does not stream; with `rbac.survivesNamespaceDeletion`, ask past it whether one is left that needs the operator", "list"),
		operator("", "secrets", Always, "connection Secrets", "create"),
		operator("", "secrets", Rarely, "put right a connection Secret that somebody has changed", "update"),
		operator("", "secrets", Rarely, "read credentials and CA certificates by name, and what stands where a connection Secret belongs", "get"),
		operator("", "secrets", Rarely, "label and finalizer of credentials in use", "patch"),
	}
}

func otherChildren() []Purpose {
	const discovery, slices = "discovery.k8s.io", "endpointslices"
	return []Purpose{
		operator("", "services", Always, "cache, of those with our label alone", "watch"),
		never("", "services", "cache", beside, "list"),
		operator("", "services", Always, "the Service of a VM", "create"),
		operator("", "services", Rarely, "follow the ports of a VM", "update"),
		operator("", "services", Rarely, "read what stands where a Service belongs", "get"),
		operator(discovery, slices, Always, "cache, of those with our label alone", "watch"),
		never(discovery, slices, "cache", beside, "list"),
		operator(discovery, slices, Always, "the addresses of a VM", "create"),
		operator(discovery, slices, Rarely, "follow addresses, ports and readiness of a VM", "update"),
		operator(discovery, slices, Rarely, "remove one without an address", "delete"),
		operator(discovery, slices, Rarely, "read what stands where an EndpointSlice belongs", "get"),
	}
}

// told is what others get to know.
func told() []Purpose {
	claim := operator(leaseKind, leases, Always, "renew the claim to the namespace", "get", "update")
	claim.Name = "vmoperator-scope"
	return []Purpose{
		operator("events.k8s.io", "events", Always, "events", "create"),
		operator("events.k8s.io", "events", Rarely, "count an event that repeats", "patch"),
		operator(leaseKind, leases, Always, "claim the namespace", "create"),
		claim,
	}
}
