//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// provider is a mock provider that runs in the cluster.
type provider struct {
	t         *testing.T
	namespace string
	service   string
}

// newProvider installs the mock provider by itself: it outlives an operator.
func newProvider(t *testing.T, values ...string) *provider {
	t.Helper()
	p := &provider{t: t, namespace: newNamespace(t, "e2e-provider"), service: "cloud-mock-provider"}
	args := []string{"install", "cloud", mockChart, "--namespace=" + p.namespace, "--timeout=" + patience.String(), "--wait", "--set=provisionSeconds=1"}
	for _, value := range values {
		args = append(args, "--set="+value)
	}
	if out, err := helm(t.Context(), "helm", args...); err != nil {
		t.Fatalf("installing the mock provider: %v\n%s\n%s", err, out, stateOf(t.Context(), p.namespace))
	}
	return p
}

// endpoint is what a ProviderConfig has.
func (p *provider) endpoint() string {
	return fmt.Sprintf("http://%s.%s.svc:8080", p.service, p.namespace)
}

// get reads from the provider through the apiserver: its Service is not reached
// from outside on every cluster.
func (p *provider) get(ctx context.Context, path string, params map[string]string) []byte {
	p.t.Helper()
	content, err := clientset.CoreV1().Services(p.namespace).ProxyGet("http", p.service, "8080", path, params).DoRaw(ctx)
	must(p.t, err)
	return content
}

// machines are the ids of the VMs that it has, in their order.
func (p *provider) machines() []string {
	p.t.Helper()
	ids := []string{}
	for cursor, more := "", true; more; more = cursor != "" {
		params := map[string]string{"limit": "500"}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var page struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
			Next string `json:"next"`
		}
		must(p.t, json.Unmarshal(p.get(p.t.Context(), "/vms", params), &page))
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		cursor = page.Next
	}
	slices.Sort(ids)
	return ids
}

// effects is how many calls of an operation the provider counts.
func (p *provider) effects(operation string) int {
	p.t.Helper()
	counted := regexp.MustCompile(`(?m)^mockprovider_requests_total\{code="2\d\d",operation="` + operation + `"\} (\d+)`)
	total := 0
	for _, found := range counted.FindAllStringSubmatch(string(p.get(p.t.Context(), "/metrics", nil)), -1) {
		count, err := strconv.Atoi(found[1])
		must(p.t, err)
		total += count
	}
	return total
}
