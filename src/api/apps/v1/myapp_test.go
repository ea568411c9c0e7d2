package v1_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/test/schemarules"
)

const myApps = "myapps.apps.example.io"

func minimalMyApp() *unstructured.Unstructured {
	return object("MyApp", map[string]any{"image": "registry.example.com/shop:1.2.0"})
}

// ports are as many ports, the first of them changed.
func ports(n int, change map[string]any) []any {
	list := make([]any, n)
	for i := range list {
		port := map[string]any{"name": fmt.Sprintf("port-%d", i), "port": int64(1000 + i)}
		if i == 0 {
			maps.Copy(port, change)
		}
		list[i] = port
	}
	return list
}

func port(field string, value any) []any { return ports(1, map[string]any{field: value}) }

// variables are as many variables, the first of them changed.
func variables(n int, change map[string]any) []any {
	list := make([]any, n)
	for i := range list {
		variable := map[string]any{"name": fmt.Sprintf("V%d", i)}
		if i == 0 {
			maps.Copy(variable, change)
		}
		list[i] = variable
	}
	return list
}

func variable(field string, value any) []any { return variables(1, map[string]any{field: value}) }

// reference is a variable's value in a key of an object.
func reference(kind, field string, value any) []any {
	ref := map[string]any{"name": "shop", "key": "password"}
	ref[field] = value
	if _, without := value.(schemarules.Absent); without {
		delete(ref, field)
	}
	return variable("valueFrom", map[string]any{kind: ref})
}

func without(object map[string]any, field string) map[string]any {
	rest := maps.Clone(object)
	delete(rest, field)
	return rest
}

// amounts are limits and requests of one resource; nil is none.
func amounts(name string, request, limit any) map[string]any {
	resources := map[string]any{}
	for kind, amount := range map[string]any{"requests": request, "limits": limit} {
		if amount != nil {
			resources[kind] = map[string]any{name: amount}
		}
	}
	return resources
}

func get(field string, value any) map[string]any {
	request := map[string]any{"port": int64(8080)}
	request[field] = value
	return map[string]any{"httpGet": request}
}

func timed(field string, value any) map[string]any {
	return map[string]any{"tcpSocket": map[string]any{"port": int64(8080)}, field: value}
}

func TestMyAppSchema(t *testing.T) {
	text := func(n int) string { return strings.Repeat("a", n) }
	try := schemarules.Try
	rules := []schemarules.Rule{
		try("spec.image required", "shop", schemarules.Absent{}, "spec.image: Required value"),
		try("spec.image minLength", "a", "", "spec.image in body should be at least 1 chars long"),
		try("spec.image maxLength", text(1024), text(1025), "spec.image: Too long: may not be more than 1024"),
		try("spec.image rule 1", "localhost:5000/shop@sha256:0123", "shop 1", "image may not hold white space, for example registry.example.com/shop:1.2.0"),
		try("spec.replicas minimum", int64(0), int64(-1), "spec.replicas in body should be greater than or equal to 0"),
		try("spec.ports maxItems", ports(32, nil), ports(33, nil), "spec.ports: Too many: 33: must have at most 32 items"),
		try("spec.ports unique", ports(2, nil), ports(2, map[string]any{"name": "port-1"}), `spec.ports[1]: Duplicate value: {"name":"port-1"}`),
		try("spec.ports rule 1", ports(2, map[string]any{"port": int64(1001), "protocol": "UDP"}), ports(2, map[string]any{"port": int64(1001)}), "two ports may not have the same port and protocol"),
		try("spec.ports[].name required", ports(1, nil), []any{map[string]any{"port": int64(80)}}, "spec.ports[0].name: Required value"),
		try("spec.ports[].name minLength", port("name", "a"), port("name", ""), "spec.ports[0].name in body should be at least 1 chars long"),
		try("spec.ports[].name maxLength", port("name", text(15)), port("name", text(16)), "spec.ports[0].name: Too long: may not be more than 15"),
		try("spec.ports[].port required", ports(1, nil), []any{map[string]any{"name": "http"}}, "spec.ports[0].port: Required value"),
		try("spec.ports[].port minimum", port("port", int64(1)), port("port", int64(0)), "spec.ports[0].port in body should be greater than or equal to 1"),
		try("spec.ports[].port maximum", port("port", int64(65535)), port("port", int64(65536)), "spec.ports[0].port in body should be less than or equal to 65535"),
		try("spec.ports[].targetPort minimum", port("targetPort", int64(1)), port("targetPort", int64(0)), "spec.ports[0].targetPort in body should be greater than or equal to 1"),
		try("spec.ports[].targetPort maximum", port("targetPort", int64(65535)), port("targetPort", int64(65536)), "spec.ports[0].targetPort in body should be less than or equal to 65535"),
		try("spec.ports[].protocol enum", port("protocol", "SCTP"), port("protocol", "HTTP"), `spec.ports[0].protocol: Unsupported value: "HTTP"`),
		try("spec.env maxItems", variables(256, nil), variables(257, nil), "spec.env: Too many: 257: must have at most 256 items"),
		try("spec.env unique", variables(2, nil), variables(2, map[string]any{"name": "V1"}), `spec.env[1]: Duplicate value: {"name":"V1"}`),
		try("spec.env[] rule 1", variable("value", "v"), variables(1, map[string]any{"value": "v", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "metadata.name"}}}), "an environment variable has a value or a valueFrom, not both"),
		try("spec.env[].name required", variables(1, nil), []any{map[string]any{"value": "v"}}, "spec.env[0].name: Required value"),
		try("spec.env[].name minLength", variable("name", "A"), variable("name", ""), "spec.env[0].name in body should be at least 1 chars long"),
		try("spec.env[].name maxLength", variable("name", text(253)), variable("name", text(254)), "spec.env[0].name: Too long: may not be more than 253"),
		try("spec.env[].value maxLength", variable("value", text(32768)), variable("value", text(32769)), "spec.env[0].value: Too long: may not be more than 32768"),
		try("spec.env[].valueFrom rule 1", reference("secretKeyRef", "key", "k"), variable("valueFrom", map[string]any{}), "a valueFrom has exactly one of secretKeyRef, configMapKeyRef and fieldRef"),
		try("spec.env[].valueFrom.fieldRef.fieldPath required", variables(1, nil), variable("valueFrom", map[string]any{"fieldRef": map[string]any{}}), "fieldRef.fieldPath: Required value"),
		try("spec.env[].valueFrom.fieldRef.fieldPath enum", variable("valueFrom", map[string]any{"fieldRef": map[string]any{"fieldPath": "status.podIP"}}), variable("valueFrom", map[string]any{"fieldRef": map[string]any{"fieldPath": "spec.tolerations"}}), `fieldPath: Unsupported value: "spec.tolerations"`),
		try("spec.resources rule 1", amounts("cpu", "500m", "0.5"), amounts("cpu", "501m", "0.5"), "requests.cpu may not be more than limits.cpu"),
		try("spec.resources rule 1", amounts("cpu", int64(1), int64(2)), amounts("cpu", int64(2), "1000m"), "requests.cpu may not be more than limits.cpu"),
		try("spec.resources rule 2", amounts("memory", "1Gi", "1Gi"), amounts("memory", "1025Mi", "1Gi"), "requests.memory may not be more than limits.memory"),
		try("spec.resources rule 2", amounts("memory", int64(1024), "1Ki"), amounts("memory", "2k", int64(1999)), "requests.memory may not be more than limits.memory"),
		try("status.selector maxLength", text(256), text(257), "status.selector: Too long: may not be more than 256"),
	}
	for _, name := range []string{"HTTP", "-a", "a-", "a--b", "80"} {
		rules = append(rules, try("spec.ports[].name rule 1", port("name", "http-2"), port("name", name), "the name of a port has lower case letters, digits and single '-'"))
	}
	for _, name := range []string{"1A", "A=B", "A B", "..", "."} {
		rules = append(rules, try("spec.env[].name rule 1", variable("name", "_my.VAR-1"), variable("name", name), "the name of an environment variable has letters, digits, '_', '-' and '.', and no digit at its beginning"))
	}
	rules = append(rules, keyRules("secretKeyRef")...)
	rules = append(rules, keyRules("configMapKeyRef")...)
	rules = append(rules, amountRules("requests")...)
	rules = append(rules, amountRules("limits")...)
	for _, probe := range []string{"startup", "readiness", "liveness"} {
		rules = append(rules, probeRules("spec.probes."+probe)...)
	}
	rules = append(rules,
		try("spec.securityContext.runAsUser minimum", int64(1), int64(0), "spec.securityContext.runAsUser in body should be greater than or equal to 1"),
		try("spec.securityContext.runAsUser maximum", int64(2147483647), int64(2147483648), "spec.securityContext.runAsUser in body should be less than or equal to 2147483647"),
	)
	schemarules.Test(t, kube, myApps, minimalMyApp(), rules)
}

func keyRules(kind string) []schemarules.Rule {
	text := func(n int) string { return strings.Repeat("a", n) }
	path, at := "spec.env[].valueFrom."+kind, "spec.env[0].valueFrom."+kind
	return []schemarules.Rule{
		schemarules.Try(path+".name required", reference(kind, "name", "a"), reference(kind, "name", schemarules.Absent{}), at+".name: Required value"),
		schemarules.Try(path+".name minLength", reference(kind, "name", "a"), reference(kind, "name", ""), at+".name in body should be at least 1 chars long"),
		schemarules.Try(path+".name maxLength", reference(kind, "name", text(253)), reference(kind, "name", text(254)), at+".name: Too long: may not be more than 253"),
		schemarules.Try(path+".name rule 1", reference(kind, "name", "a.b-1"), reference(kind, "name", "other/a"), "name must be that of a Secret or a ConfigMap"),
		schemarules.Try(path+".key required", reference(kind, "key", "k"), reference(kind, "key", schemarules.Absent{}), at+".key: Required value"),
		schemarules.Try(path+".key minLength", reference(kind, "key", "k"), reference(kind, "key", ""), at+".key in body should be at least 1 chars long"),
		schemarules.Try(path+".key maxLength", reference(kind, "key", text(253)), reference(kind, "key", text(254)), at+".key: Too long: may not be more than 253"),
		schemarules.Try(path+".key rule 1", reference(kind, "key", "tls.key_1"), reference(kind, "key", "a b"), "key has letters, digits, '-', '_' and '.'"),
	}
}

func amountRules(kind string) []schemarules.Rule {
	const (
		wrongCPU    = "cpu must be a number of CPUs or of thousandths of them, for example 500m, 0.5 or 2"
		wrongMemory = "memory must be a whole number of bytes with a unit up to Ti, for example 256Mi or 2Gi"
	)
	path := "spec.resources." + kind
	return []schemarules.Rule{
		schemarules.Try(path+".cpu pattern", "1", "one", path+".cpu in body should match"),
		schemarules.Try(path+".cpu maxLength", strings.Repeat("0", 15)+"1", strings.Repeat("0", 16)+"1", path+".cpu: Too long: may not be more than 16"),
		schemarules.Try(path+".cpu rule 1", "0.125", "0.1255", wrongCPU),
		schemarules.Try(path+".cpu rule 1", int64(2), int64(-2), wrongCPU),
		schemarules.Try(path+".cpu rule 1", "250m", "1e999999999", wrongCPU),
		schemarules.Try(path+".memory pattern", "1Gi", "1GiB", path+".memory in body should match"),
		schemarules.Try(path+".memory maxLength", strings.Repeat("0", 13)+"1Gi", strings.Repeat("0", 14)+"1Gi", path+".memory: Too long: may not be more than 16"),
		schemarules.Try(path+".memory rule 1", int64(1048576), int64(-1048576), wrongMemory),
		schemarules.Try(path+".memory rule 1", "1024", "100m", wrongMemory),
		schemarules.Try(path+".memory rule 1", "2Ti", "1e999999999", wrongMemory),
	}
}

func probeRules(path string) []schemarules.Rule {
	try, exec := schemarules.Try, func(n, length int) map[string]any {
		command := make([]any, n)
		for i := range command {
			command[i] = strings.Repeat("a", length)
		}
		return map[string]any{"exec": map[string]any{"command": command}}
	}
	bounds := func(field string, least, most int64) []schemarules.Rule {
		return []schemarules.Rule{
			try(path+"."+field+" minimum", timed(field, least), timed(field, least-1), fmt.Sprintf("%s.%s in body should be greater than or equal to %d", path, field, least)).In(path),
			try(path+"."+field+" maximum", timed(field, most), timed(field, most+1), fmt.Sprintf("%s.%s in body should be less than or equal to %d", path, field, most)).In(path),
		}
	}
	rules := []schemarules.Rule{
		try(path+" rule 1", get("path", "/"), map[string]any{}, "a probe has exactly one of httpGet, tcpSocket and exec"),
		try(path+" rule 1", exec(1, 1), map[string]any{"exec": exec(1, 1)["exec"], "tcpSocket": map[string]any{"port": int64(1)}}, "a probe has exactly one of httpGet, tcpSocket and exec"),
		try(path+".httpGet.path minLength", get("path", "/"), get("path", ""), path+".httpGet.path in body should be at least 1 chars long").In(path),
		try(path+".httpGet.path maxLength", get("path", "/"+strings.Repeat("a", 2047)), get("path", "/"+strings.Repeat("a", 2048)), path+".httpGet.path: Too long: may not be more than 2048").In(path),
		try(path+".httpGet.path rule 1", get("path", "/healthz?full=1"), get("path", "healthz"), "path begins with '/', for example /healthz").In(path),
		try(path+".httpGet.port required", get("path", "/"), map[string]any{"httpGet": without(map[string]any{"path": "/"}, "port")}, path+".httpGet.port: Required value").In(path),
		try(path+".httpGet.port minimum", get("port", int64(1)), get("port", int64(0)), path+".httpGet.port in body should be greater than or equal to 1").In(path),
		try(path+".httpGet.port maximum", get("port", int64(65535)), get("port", int64(65536)), path+".httpGet.port in body should be less than or equal to 65535").In(path),
		try(path+".httpGet.scheme enum", get("scheme", "HTTPS"), get("scheme", "https"), `scheme: Unsupported value: "https"`).In(path),
		try(path+".tcpSocket.port required", timed("periodSeconds", int64(1)), map[string]any{"tcpSocket": map[string]any{}}, path+".tcpSocket.port: Required value").In(path),
		try(path+".tcpSocket.port minimum", map[string]any{"tcpSocket": map[string]any{"port": int64(1)}}, map[string]any{"tcpSocket": map[string]any{"port": int64(0)}}, path+".tcpSocket.port in body should be greater than or equal to 1").In(path),
		try(path+".tcpSocket.port maximum", map[string]any{"tcpSocket": map[string]any{"port": int64(65535)}}, map[string]any{"tcpSocket": map[string]any{"port": int64(65536)}}, path+".tcpSocket.port in body should be less than or equal to 65535").In(path),
		try(path+".exec.command required", exec(1, 1), map[string]any{"exec": map[string]any{}}, path+".exec.command: Required value").In(path),
		try(path+".exec.command minItems", exec(1, 1), exec(0, 0), path+".exec.command in body should have at least 1 items").In(path),
		try(path+".exec.command maxItems", exec(64, 1), exec(65, 1), path+".exec.command: Too many: 65: must have at most 64 items").In(path),
		try(path+".exec.command[] maxLength", exec(1, 4096), exec(1, 4097), path+".exec.command[0]: Too long: may not be more than 4096").In(path),
	}
	rules = append(rules, bounds("initialDelaySeconds", 0, 3600)...)
	rules = append(rules, bounds("periodSeconds", 1, 3600)...)
	rules = append(rules, bounds("timeoutSeconds", 1, 3600)...)
	return append(rules, bounds("failureThreshold", 1, 1000)...)
}

func TestTheNameOfAMyAppIsOneThatAServiceCanHave(t *testing.T) {
	const message = "the name of a MyApp is that of its Service: at most 63 lower case letters, digits and '-', a letter first"
	for _, name := range []string{"a", "shop-2", strings.Repeat("a", 63)} {
		named := minimalMyApp()
		named.SetName(name)
		schemarules.Create(t, kube, named)
	}
	for _, name := range []string{"2-shop", "shop.example", strings.Repeat("a", 64)} {
		named := minimalMyApp()
		named.SetName(name)
		schemarules.WantRefusal(t, kube.Create(t.Context(), named), message)
	}
}

func TestAnUnseenMyAppHasItsDefaults(t *testing.T) {
	app := minimalMyApp()
	app.Object["spec"] = map[string]any{
		"image": "shop", "ports": ports(1, nil), "probes": map[string]any{"readiness": get("port", int64(8080))}, "securityContext": map[string]any{},
	}
	stored := schemarules.Create(t, kube, app)
	want := map[string]any{
		"image": "shop", "replicas": int64(1),
		"ports":           []any{map[string]any{"name": "port-0", "port": int64(1000), "protocol": "TCP"}},
		"securityContext": map[string]any{"readOnlyRootFilesystem": true},
		"probes": map[string]any{"readiness": map[string]any{
			"httpGet":       map[string]any{"path": "/", "port": int64(8080), "scheme": "HTTP"},
			"periodSeconds": int64(10), "timeoutSeconds": int64(1), "failureThreshold": int64(3),
		}},
	}
	if diff := cmp.Diff(want, stored.Object["spec"]); diff != "" {
		t.Error(diff)
	}
	unseen := map[string]any{
		"observedGeneration": int64(-1), "replicas": int64(0), "updatedReplicas": int64(0), "readyReplicas": int64(0), "availableReplicas": int64(0),
	}
	if diff := cmp.Diff(unseen, stored.Object["status"]); diff != "" {
		t.Error(diff)
	}
}

func TestAMyAppWithoutSpecIsRefused(t *testing.T) {
	empty := minimalMyApp()
	unstructured.RemoveNestedField(empty.Object, "spec")
	schemarules.WantRefusal(t, kube.Create(t.Context(), empty), "spec: Required value")
}

func TestTheShortNameAndTheColumnsOfAMyApp(t *testing.T) {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := discoverer.ServerResourcesForGroupVersion(exampleappsv1.GroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, resource := range resources.APIResources {
		if strings.HasPrefix(resource.Name, "myapps") {
			got[resource.Name] = fmt.Sprint(resource.ShortNames, resource.Categories)
		}
	}
	want := map[string]string{"myapps": "[mya] [vmoperator]", "myapps/status": "[] []", "myapps/scale": "[] []"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := kube.Get(t.Context(), client.ObjectKey{Name: myApps}, &definition); err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, column := range definition.Spec.Versions[0].AdditionalPrinterColumns {
		columns = append(columns, column.Name)
	}
	if want := "[Ready Desired Replicas Available Image Age Synced Progressing Reason]"; fmt.Sprint(columns) != want {
		t.Errorf("the columns are %v, want %s", columns, want)
	}
}
