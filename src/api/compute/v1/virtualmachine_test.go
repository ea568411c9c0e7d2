package v1_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/schemarules"
)

// minimalVM is the minimal object of the documentation.
func minimalVM() *unstructured.Unstructured {
	return object("VirtualMachine", map[string]any{"image": "ubuntu-24.04", "cpu": int64(2), "memory": "4Gi"})
}

func ports(changes ...map[string]any) []any {
	list := make([]any, 0, len(changes))
	for i, change := range changes {
		port := map[string]any{"name": fmt.Sprintf("port-%d", i), "port": int64(1000 + i)}
		maps.Copy(port, change)
		list = append(list, port)
	}
	return list
}

func port(field string, value any) []any { return ports(map[string]any{field: value}) }

func strs(n int, format string) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return list
}

func TestVirtualMachineSchema(t *testing.T) {
	const (
		wholeMiB    = "memory must be a whole number of MiB, at least 1Mi and at most 1Pi, for example 512Mi or 4Gi"
		notQuantity = "spec.memory in body should match"
		moved       = "providerRef is immutable: it names where the VM is; delete this VirtualMachine and create another"
	)
	text := func(n int) string { return strings.Repeat("a", n) }
	schemarules.Test(t, kube, "virtualmachines.compute.example.com", minimalVM(), []schemarules.Rule{
		schemarules.Try("spec.image required", "ubuntu-24.04", schemarules.Absent{}, "spec.image: Required value"),
		schemarules.Try("spec.image required", "ubuntu-24.04", nil, "spec.image: Required value"),
		schemarules.Try("spec.image rule 1", "ubuntu-24.04", "ubuntu-26.04", "image is immutable: delete this VirtualMachine and create another").After("ubuntu-24.04"),
		schemarules.Try("spec.image minLength", "a", "", "spec.image in body should be at least 1 chars long"),
		schemarules.Try("spec.image maxLength", text(256), text(257), "spec.image: Too long: may not be more than 256"),
		schemarules.Try("spec.cpu required", int64(1), schemarules.Absent{}, "spec.cpu: Required value"),
		schemarules.Try("spec.cpu required", int64(1), nil, "spec.cpu: Required value"),
		schemarules.Try("spec.cpu minimum", int64(1), int64(0), "spec.cpu in body should be greater than or equal to 1"),
		schemarules.Try("spec.cpu minimum", int64(1), int64(-1), "spec.cpu in body should be greater than or equal to 1"),
		schemarules.Try("spec.cpu maximum", int64(1024), int64(1025), "spec.cpu in body should be less than or equal to 1024"),
		schemarules.Try("spec.cpu maximum", int64(1024), int64(1<<40), "spec.cpu in body should be less than or equal to 1024"),
		schemarules.Try("spec.memory required", "4Gi", schemarules.Absent{}, "spec.memory: Required value"),
		schemarules.Try("spec.memory required", "4Gi", nil, "spec.memory: Required value"),
		schemarules.Try("spec.memory pattern", "4Gi", "4GiB", notQuantity),
		schemarules.Try("spec.memory pattern", "4Gi", "", notQuantity),
		schemarules.Try("spec.memory maxLength", strings.Repeat("0", 29)+"4Gi", strings.Repeat("0", 30)+"4Gi", "spec.memory: Too long: may not be more than 32"),
		schemarules.Try("spec.memory rule 1", int64(4294967296), int64(4294967297), wholeMiB),
		schemarules.Try("spec.memory rule 1", "0.5Gi", "1.5Mi", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1048576", "1e9", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1024Ki", "1Ki", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1048.576k", "1048.5760001k", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1Mi", "0", wholeMiB),
		schemarules.Try("spec.memory rule 1", int64(1048576), int64(0), wholeMiB),
		schemarules.Try("spec.memory rule 1", int64(1048576), int64(-1048576), wholeMiB),
		schemarules.Try("spec.memory rule 1", "512Mi", "-4Gi", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1Mi", "1048576001m", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1023.9990234375Ti", "1Ei", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1Pi", "1025Ti", wholeMiB),
		schemarules.Try("spec.memory rule 1", int64(1<<50), int64(1<<63-1), wholeMiB),
		schemarules.Try("spec.memory rule 1", "1Pi", "99999999999999999999999999999P", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1Pi", "1e999999999", wholeMiB),
		schemarules.Try("spec.memory rule 1", "1Pi", "1e-999999999", wholeMiB),
		schemarules.Try("spec.providerRef maxLength", text(253), text(254), "spec.providerRef: Too long: may not be more than 253"),
		schemarules.Try("spec.providerRef pattern", "aws-eu.1", "AWS", "spec.providerRef in body should match"),
		schemarules.Try("spec.providerRef pattern", "", "other/default", "spec.providerRef in body should match"),
		schemarules.Try("spec rule 1", "aws", "azure", moved).In("spec.providerRef").After("aws"),
		schemarules.Try("spec rule 1", "aws", schemarules.Absent{}, moved).In("spec.providerRef").After("aws"),
		schemarules.Try("spec rule 1", "aws", "", moved).In("spec.providerRef").After("aws"),
		schemarules.Try("spec rule 1", "default", "aws", moved).In("spec.providerRef").After(schemarules.Absent{}),
		schemarules.Try("spec rule 1", schemarules.Absent{}, "aws", moved).In("spec.providerRef").After("default"),
		schemarules.Try("spec.deletionPolicy enum", "Retain", "Orphan", `spec.deletionPolicy: Unsupported value: "Orphan": supported values: "Delete", "Retain"`),
		schemarules.Try("spec.service.ports minItems", ports(nil), []any{}, "spec.service.ports in body should have at least 1 items"),
		schemarules.Try("spec.service.ports maxItems", manyPorts(32), manyPorts(33), "spec.service.ports: Too many: 33: must have at most 32 items"),
		schemarules.Try(
			"spec.service.ports unique", ports(nil, nil), ports(map[string]any{"name": "a"}, map[string]any{"name": "a"}),
			`spec.service.ports[1]: Duplicate value: {"name":"a"}`,
		),
		schemarules.Try(
			"spec.service.ports rule 1", ports(map[string]any{"port": int64(53), "protocol": "UDP"}, map[string]any{"port": int64(53)}),
			ports(map[string]any{"port": int64(53)}, map[string]any{"port": int64(53)}),
			"two ports may not have the same port and protocol",
		),
		schemarules.Try("spec.service.ports[].name required", ports(nil), []any{map[string]any{"port": int64(22)}}, "spec.service.ports[0].name: Required value"),
		schemarules.Try("spec.service.ports[].name minLength", port("name", "a"), port("name", ""), "spec.service.ports[0].name in body should be at least 1 chars long"),
		schemarules.Try("spec.service.ports[].name maxLength", port("name", text(63)), port("name", text(64)), "spec.service.ports[0].name: Too long: may not be more than 63"),
		schemarules.Try("spec.service.ports[].name pattern", port("name", "http-2"), port("name", "HTTP"), "spec.service.ports[0].name in body should match"),
		schemarules.Try("spec.service.ports[].port required", ports(nil), []any{map[string]any{"name": "ssh"}}, "spec.service.ports[0].port: Required value"),
		schemarules.Try("spec.service.ports[].port minimum", port("port", int64(1)), port("port", int64(0)), "spec.service.ports[0].port in body should be greater than or equal to 1"),
		schemarules.Try("spec.service.ports[].port maximum", port("port", int64(65535)), port("port", int64(65536)), "spec.service.ports[0].port in body should be less than or equal to 65535"),
		schemarules.Try("spec.service.ports[].targetPort minimum", port("targetPort", int64(1)), port("targetPort", int64(0)), "spec.service.ports[0].targetPort in body should be greater than or equal to 1"),
		schemarules.Try("spec.service.ports[].targetPort maximum", port("targetPort", int64(65535)), port("targetPort", int64(65536)), "spec.service.ports[0].targetPort in body should be less than or equal to 65535"),
		schemarules.Try("spec.service.ports[].protocol enum", port("protocol", "SCTP"), port("protocol", "ICMP"), `spec.service.ports[0].protocol: Unsupported value: "ICMP"`),
		schemarules.Try("status.id maxLength", text(256), text(257), "status.id: Too long: may not be more than 256"),
		schemarules.Try("status.phase maxLength", text(64), text(65), "status.phase: Too long: may not be more than 64"),
		schemarules.Try("status.addresses maxItems", strs(16, "192.0.2.%d"), strs(17, "192.0.2.%d"), "status.addresses: Too many: 17: must have at most 16 items"),
		schemarules.Try("status.addresses unique", []any{"192.0.2.1", "192.0.2.2"}, []any{"192.0.2.1", "192.0.2.1"}, `status.addresses[1]: Duplicate value: "192.0.2.1"`),
		schemarules.Try("status.addresses[] maxLength", []any{text(64)}, []any{text(65)}, "status.addresses[0]: Too long: may not be more than 64"),
		schemarules.Try("status.memory pattern", "4Gi", "4GiB", "memory in body should match"),
		schemarules.Try("status.serviceName maxLength", text(63), text(64), "status.serviceName: Too long: may not be more than 63"),
	})
}

func manyPorts(n int) []any { return ports(make([]map[string]any, n)...) }

func TestVirtualMachineDefaults(t *testing.T) {
	stored := create(t, minimalVM())
	for path, want := range map[string]string{
		"spec.providerRef":          computev1.DefaultProviderConfig,
		"spec.deletionPolicy":       string(computev1.DeletionPolicyDelete),
		"spec.service.ports":        "[map[name:ssh port:22 protocol:TCP]]",
		"status.observedGeneration": "-1",
	} {
		if got := fmt.Sprint(nested(t, stored, path)); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
