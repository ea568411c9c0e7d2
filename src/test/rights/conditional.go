package rights

// watched makes the chart give rights in a namespace that is not the release's.
const watched = "--set=watchNamespaces={team}"

// conditional are the operator's further rights.
func conditional() []Part {
	claims := operates(leaseKind, leases, Always, "see whether another release works in a namespace", "list")
	claims.Name = "vmoperator-scope"
	binding := operates(rbac, "rolebindings", Always, "keep the RoleBinding that gives it these rights, by a finalizer", "get", "patch")
	binding.Name = "*-manager-kept"
	return []Part{
		{
			Title: "In the release's namespace", When: "with `leaderElection.enabled`, which is the default",
			Purposes: leading(),
		},
		{
			Title: "For AppAutoscalers", When: "with `controllers.appAutoscaler.enabled`, which is the default, in each watched namespace",
			Purposes: appAutoscalers(),
		},
		{
			Title: "For MyApps", When: "with `controllers.myApp.enabled`, which is the default, in each watched namespace",
			Purposes: myApps(),
		},
		{
			Title: "For the labeller", When: "with `controllers.labeller.enabled`, in each watched namespace",
			Values: []string{watched, "--set=controllers.labeller.enabled=true"},
			Purposes: []Purpose{
				operates("apps", "deployments", Rarely, "cache of their metadata; set the label", "watch", "patch"),
				besideWatch("apps", "deployments", "cache of their metadata"),
			},
		},
		{
			Title: "To make a ProviderConfig", When: "with `provider.defaultEndpoint`, or with `mock-provider.enabled`, in each watched namespace",
			Values:   []string{watched, "--set=provider.defaultEndpoint=https://vms.example.com"},
			Purposes: []Purpose{operates(compute, configs, Always, "make the ProviderConfig `default` where there is none", "create")},
		},
		{
			Title: "To outlive a namespace", When: "with `rbac.survivesNamespaceDeletion`, in each watched namespace",
			Values:   []string{watched, "--set=rbac.survivesNamespaceDeletion=true"},
			Purposes: []Purpose{binding},
		},
		{
			Title: "To watch all namespaces", When: "with `rbac.scope: cluster` and no `watchNamespaces`",
			Values:   []string{"--set=rbac.scope=cluster"},
			Purposes: []Purpose{claims},
		},
		{
			Title: "To ask who reads metrics", When: "with `metrics.secure`, of the cluster",
			Values: []string{watched, "--set=metrics.secure=true"},
			Purposes: []Purpose{
				operates("authentication.k8s.io", "tokenreviews", Always, "learn who asks", "create"),
				operates("authorization.k8s.io", "subjectaccessreviews", Always, "learn whether it may read them", "create"),
			},
		},
	}
}

func appAutoscalers() []Purpose {
	const apps, autoscalers, deployments = "apps.example.io", "appautoscalers", "deployments"
	const scalers = "horizontalpodautoscalers"
	return []Purpose{
		operates(apps, autoscalers, Always, "cache", "watch"),
		besideWatch(apps, autoscalers, "cache"),
		operates(apps, autoscalers+"/status", Rarely, "what is known of the Deployment", "patch"),
		operates("apps", deployments, Always, "cache, of all: one that was there before carries no label", "watch"),
		besideWatch("apps", deployments, "cache"),
		operates("apps", deployments, Rarely, "read past the cache, for who has changed one", "get"),
		operates("apps", deployments, Rarely, "create one that is missing", "create"),
		operates("apps", deployments, Rarely, "put replicas and image back", "patch"),
		operates("autoscaling", scalers, Always, "cache, of all: one of somebody else may scale the Deployment", "watch"),
		besideWatch("autoscaling", scalers, "cache"),
		operates("autoscaling", scalers, Rarely, "read past the cache, for who has changed one", "get"),
		operates("autoscaling", scalers, Rarely, "create one that is declared", "create"),
		operates("autoscaling", scalers, Rarely, "put one back, and ask by a dry run how it should be", "update"),
		operates("autoscaling", scalers, Rarely, "delete one that is not declared any more", "delete"),
		operates("", "pods", Rarely, "see why those of a Deployment are not available", "list"),
	}
}

func myApps() []Purpose {
	const apps, mine, deployments, services = "apps.example.io", "myapps", "deployments", "services"
	return []Purpose{
		operates(apps, mine, Always, "cache", "watch"),
		besideWatch(apps, mine, "cache"),
		operates(apps, mine+"/status", Rarely, "what is known of Deployment and Service", "patch"),
		operates("apps", deployments, Always, "cache of our own", "watch"),
		besideWatch("apps", deployments, "cache of our own"),
		operates("apps", deployments, Rarely, "read past the cache: whose it is, and who has changed it", "get"),
		operates("apps", deployments, Rarely, "apply one that is missing or not as declared", "create", "patch"),
		operates("", services, Always, "cache of our own", "watch"),
		besideWatch("", services, "cache of our own"),
		operates("", services, Rarely, "read past the cache: whose it is, and who has changed it", "get"),
		operates("", services, Rarely, "apply one that is missing or not as declared", "create", "patch"),
		operates("", services, Rarely, "delete one where there are no ports any more", "delete"),
		operates("", "pods", Rarely, "see why those of a Deployment are not available", "list"),
	}
}

func leading() []Purpose {
	events := operates("", "events", Always, "tell who leads", "create")
	lease := operates(leaseKind, leases, Always, "make the leader's lease", "create")
	lead := operates(leaseKind, leases, Always, "lead", "get", "update")
	lead.Name = "vmoperator-leader"
	all := []Purpose{events, lease, lead}
	for i := range all {
		all[i].Home = true
	}
	return all
}

// commands are the rights of the chart's hooks, which they have while they run.
func commands() []Part {
	smoke := func(resource, purpose string, verbs ...string) Purpose {
		return Purpose{Holder: SmokeTest, Group: compute, Resource: resource, Verbs: verbs, For: purpose, Seen: Always}
	}
	guard := func(resource string) Purpose {
		return Purpose{Holder: UninstallGuard, Group: compute, Resource: resource, Verbs: []string{"list"}, For: "find what is left", Seen: Always}
	}
	return []Part{
		{
			Title: "Of the smoke test", When: "while `helm test` runs, in the first watched namespace",
			Values: []string{watched, "--set=smokeTest.provider=default"},
			Purposes: []Purpose{
				smoke(vms, "make one, see it run, and see it go", "create", "get", "delete"),
				smoke(configs, "see that there is one", "get"),
			},
		},
		{
			Title: "Of the uninstall guard", When: "with `uninstallGuard.enabled`, while `helm uninstall` runs, in each watched namespace",
			Values:   []string{watched, "--set=uninstallGuard.enabled=true"},
			Purposes: []Purpose{guard(vms), guard(configs)},
		},
	}
}

// people are rights that the chart offers and gives to nobody.
func people() []Part {
	role := func(resource, purpose string, verbs ...string) Purpose {
		return Purpose{Holder: People, Group: compute, Resource: resource, Verbs: verbs, For: purpose}
	}
	apps := func(resource, purpose string, verbs ...string) Purpose {
		return Purpose{Holder: People, Group: "apps.example.io", Resource: resource, Verbs: verbs, For: purpose}
	}
	read := []string{"get", "list", "watch"}
	write := []string{"create", "update", "patch", "delete", "deletecollection"}
	return []Part{
		{
			Title: "Of whoever reads metrics", When: "with `metrics.secure`: a ClusterRole to bind to Prometheus",
			Values:   []string{watched, "--set=metrics.secure=true"},
			Purposes: []Purpose{{Holder: People, Resource: "/metrics", Verbs: []string{"get"}, For: "read the metrics"}},
		},
		{
			Title: "Of people", When: "with `rbac.aggregate`: what is added to the cluster's roles",
			Values: []string{watched, "--set=rbac.aggregate=true"},
			Purposes: []Purpose{
				role(vms, "role view: see VMs", read...),
				role(configs, "role view: see why a provider is not ready; no Secret is shown", read...),
				role(vms, "role edit: have VMs", write...),
				apps("appautoscalers", "role view: see AppAutoscalers", read...),
				apps("appautoscalers", "role edit: have AppAutoscalers", write...),
				apps("appautoscalers/scale", "role edit: kubectl scale", "get", "patch", "update"),
				apps("myapps", "role view: see MyApps", read...),
				apps("myapps", "role edit: have MyApps", write...),
				apps("myapps/scale", "role edit: kubectl scale", "get", "patch", "update"),
				role(configs, "role admin: choose where the operator connects to, and with which Secret", write...),
			},
		},
	}
}
