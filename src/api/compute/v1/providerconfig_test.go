package v1_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/vmoperator/src/test/schemarules"
)

func minimalProviderConfig() *unstructured.Unstructured {
	return object("ProviderConfig", map[string]any{"endpoint": "https://vms.example.com"})
}

func TestProviderConfigSchema(t *testing.T) {
	const (
		notURL        = "endpoint must be an http or https URL with a host, for example https://vms.example.com"
		extras        = "endpoint may not hold a user, a query or a fragment; credentials belong in the Secret of secretRef"
		notDuration   = "in body should match"
		timeoutBounds = "timeout must be between 1s and 5m"
		pollBounds    = "pollInterval must be between 1s and 1h"
		ageBounds     = "minimumAge must be between 1s and 720h"
	)
	text := func(n int) string { return strings.Repeat("a", n) }
	url := func(n int) string { return "http://a/" + strings.Repeat("a", n-9) }
	schemarules.Test(t, kube, "providerconfigs.compute.example.com", minimalProviderConfig(), []schemarules.Rule{
		schemarules.Try("spec.type enum", "HTTP", "GRPC", `spec.type: Unsupported value: "GRPC": supported values: "HTTP"`),
		schemarules.Try("spec.endpoint required", "http://127.0.0.1:8080", schemarules.Absent{}, "spec.endpoint: Required value"),
		schemarules.Try("spec.endpoint required", "http://127.0.0.1:8080", nil, "spec.endpoint: Required value"),
		schemarules.Try("spec.endpoint minLength", "http://a", "", "spec.endpoint in body should be at least 1 chars long"),
		schemarules.Try("spec.endpoint maxLength", url(2048), url(2049), "spec.endpoint: Too long: may not be more than 2048"),
		schemarules.Try("spec.endpoint rule 1", "http://[::1]:8080/v1", "vms.example.com", notURL),
		schemarules.Try("spec.endpoint rule 1", "HTTP://vms.example.com", "ftp://vms.example.com", notURL),
		schemarules.Try("spec.endpoint rule 1", "https://vms.example.com/", "https:///vms", notURL),
		schemarules.Try("spec.endpoint rule 1", "https://vms.example.com:8443", "https://:8443", notURL),
		schemarules.Try("spec.endpoint rule 1", "https://vms.example.com", "https://vms example.com", notURL),
		schemarules.Try("spec.endpoint rule 1", "https://vms.example.com", "javascript:alert(1)", notURL),
		schemarules.Try("spec.endpoint rule 2", "https://vms.example.com", "https://user@vms.example.com", extras),
		schemarules.Try("spec.endpoint rule 2", "https://vms.example.com", "https://vms.example.com?key=1", extras),
		schemarules.Try("spec.endpoint rule 2", "https://vms.example.com", "https://vms.example.com#top", extras),
		schemarules.Try("spec.secretRef.name required", map[string]any{"name": "key"}, map[string]any{}, "spec.secretRef.name: Required value").In("spec.secretRef"),
		schemarules.Try("spec.secretRef.name minLength", "k", "", "spec.secretRef.name in body should be at least 1 chars long"),
		schemarules.Try("spec.secretRef.name maxLength", text(253), text(254), "spec.secretRef.name: Too long: may not be more than 253"),
		schemarules.Try("spec.tls.caSecretRef required", map[string]any{"caSecretRef": map[string]any{"name": "ca"}}, map[string]any{}, "spec.tls.caSecretRef: Required value").In("spec.tls"),
		schemarules.Try("spec.tls.caSecretRef.name required", map[string]any{"name": "ca"}, map[string]any{}, "spec.tls.caSecretRef.name: Required value").In("spec.tls.caSecretRef"),
		schemarules.Try("spec.tls.caSecretRef.name minLength", "c", "", "spec.tls.caSecretRef.name in body should be at least 1 chars long"),
		schemarules.Try("spec.tls.caSecretRef.name maxLength", text(253), text(254), "spec.tls.caSecretRef.name: Too long: may not be more than 253"),
		schemarules.Try("spec.timeout maxLength", strings.Repeat("1ms", 10)+"1s", strings.Repeat("1ms", 11), "spec.timeout: Too long: may not be more than 32"),
		schemarules.Try("spec.timeout pattern", "1.5s", "soon", notDuration),
		schemarules.Try("spec.timeout pattern", "1m30s", "", notDuration),
		schemarules.Try("spec.timeout pattern", "10s", "9999999999999h", notDuration),
		schemarules.Try("spec.timeout rule 1", "1s", "999ms", timeoutBounds),
		schemarules.Try("spec.timeout rule 1", "5m", "5m1s", timeoutBounds),
		schemarules.Try("spec.timeout rule 1", "5m", "999999h", timeoutBounds),
		schemarules.Try("spec.rateLimit.qps required", map[string]any{"qps": int64(1)}, map[string]any{}, "spec.rateLimit.qps: Required value").In("spec.rateLimit"),
		schemarules.Try("spec.rateLimit.qps minimum", int64(1), int64(0), "spec.rateLimit.qps in body should be greater than or equal to 1"),
		schemarules.Try("spec.rateLimit.qps maximum", int64(10000), int64(10001), "spec.rateLimit.qps in body should be less than or equal to 10000"),
		schemarules.Try("spec.rateLimit.burst minimum", burst(1), burst(0), "spec.rateLimit.burst in body should be greater than or equal to 1").In("spec.rateLimit"),
		schemarules.Try("spec.rateLimit.burst maximum", burst(10000), burst(10001), "spec.rateLimit.burst in body should be less than or equal to 10000").In("spec.rateLimit"),
		schemarules.Try("spec.pollInterval maxLength", strings.Repeat("1ms", 10)+"1s", strings.Repeat("1ms", 11), "spec.pollInterval: Too long: may not be more than 32"),
		schemarules.Try("spec.pollInterval pattern", "30s", "30", notDuration),
		schemarules.Try("spec.pollInterval rule 1", "1s", "999ms", pollBounds),
		schemarules.Try("spec.pollInterval rule 1", "1h", "1h1s", pollBounds),
		schemarules.Try("spec.orphans.policy enum", "Delete", "Adopt", `spec.orphans.policy: Unsupported value: "Adopt": supported values: "Report", "Delete"`),
		schemarules.Try("spec.orphans.minimumAge maxLength", strings.Repeat("1ms", 10)+"1s", strings.Repeat("1ms", 11), "spec.orphans.minimumAge: Too long: may not be more than 32"),
		schemarules.Try("spec.orphans.minimumAge pattern", "1h30m", "1d", notDuration),
		schemarules.Try("spec.orphans.minimumAge rule 1", "1s", "999ms", ageBounds),
		schemarules.Try("spec.orphans.minimumAge rule 1", "720h", "720h1s", ageBounds),
		schemarules.Try("status.retained maxItems", retained(500), retained(501), "status.retained: Too many: 501: must have at most 500 items"),
		schemarules.Try("status.retained unique", retained(2), append(retained(1), retained(1)...), `status.retained[1]: Duplicate value: {"uid":"uid-0"}`),
		schemarules.Try("status.retained[].uid required", retained(1), []any{map[string]any{"name": "web"}}, "status.retained[0].uid: Required value").In("status.retained"),
		schemarules.Try("status.retained[].uid minLength", retained(1), []any{map[string]any{"uid": ""}}, "retained[0].uid in body should be at least 1 chars long"),
		schemarules.Try("status.retained[].uid maxLength", []any{map[string]any{"uid": text(64)}}, []any{map[string]any{"uid": text(65)}}, "status.retained[0].uid: Too long: may not be more than 64"),
		schemarules.Try("status.retained[].name minLength", []any{named("a")}, []any{named("")}, "retained[0].name in body should be at least 1 chars long"),
		schemarules.Try("status.retained[].id minLength", []any{identified("a")}, []any{identified("")}, "retained[0].id in body should be at least 1 chars long"),
		schemarules.Try("status.retained[].name maxLength", []any{named(text(253))}, []any{named(text(254))}, "status.retained[0].name: Too long: may not be more than 253"),
		schemarules.Try("status.retained[].id maxLength", []any{identified(text(256))}, []any{identified(text(257))}, "status.retained[0].id: Too long: may not be more than 256"),
		schemarules.Try("status.endpoint maxLength", url(2048), url(2049), "status.endpoint: Too long: may not be more than 2048"),
		schemarules.Try("status.identity maxLength", text(256), text(257), "status.identity: Too long: may not be more than 256"),
		schemarules.Try("status.formerIdentities maxItems", strs(8, "id-%d"), strs(9, "id-%d"), "status.formerIdentities: Too many: 9: must have at most 8 items"),
		schemarules.Try("status.formerIdentities unique", []any{"a", "b"}, []any{"a", "a"}, `status.formerIdentities[1]: Duplicate value: "a"`),
		schemarules.Try("status.formerIdentities[] maxLength", []any{text(256)}, []any{text(257)}, "status.formerIdentities[0]: Too long: may not be more than 256"),
		schemarules.Try("status.capabilities maxItems", strs(32, "c-%d"), strs(33, "c-%d"), "status.capabilities: Too many: 33: must have at most 32 items"),
		schemarules.Try("status.capabilities unique", []any{"a", "b"}, []any{"a", "a"}, `status.capabilities[1]: Duplicate value: "a"`),
		schemarules.Try("status.capabilities[] maxLength", []any{text(64)}, []any{text(65)}, "status.capabilities[0]: Too long: may not be more than 64"),
	})
}

func retained(n int) []any {
	list := make([]any, 0, n)
	for i := range n {
		list = append(list, map[string]any{"uid": fmt.Sprintf("uid-%d", i)})
	}
	return list
}

func named(name string) map[string]any { return map[string]any{"uid": "u", "name": name} }

func identified(id string) map[string]any { return map[string]any{"uid": "u", "id": id} }

func burst(n int64) map[string]any { return map[string]any{"qps": int64(1), "burst": n} }

func TestProviderConfigDefaults(t *testing.T) {
	given := minimalProviderConfig()
	if err := unstructured.SetNestedMap(given.Object, map[string]any{}, "spec", "orphans"); err != nil {
		t.Fatal(err)
	}
	stored := create(t, given)
	for path, want := range map[string]string{
		"spec.type":                 "HTTP",
		"spec.timeout":              "10s",
		"spec.pollInterval":         "30s",
		"spec.orphans.policy":       "Report",
		"spec.orphans.minimumAge":   "1h",
		"status.observedGeneration": "-1",
	} {
		if got := fmt.Sprint(nested(t, stored, path)); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
