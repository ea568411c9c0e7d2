package virtualmachine

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

func TestChildrenHaveNamesThatTheAPIAcceptsAndNoTwoShare(t *testing.T) {
	names := rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?){0,8}`).
		Filter(func(name string) bool { return len(validation.IsDNS1123Subdomain(name)) == 0 })
	rapid.Check(t, func(t *rapid.T) {
		one, other := names.Draw(t, "one"), names.Draw(t, "other")
		if problems := validation.IsDNS1035Label(serviceName(one)); len(problems) > 0 {
			t.Errorf("Service %q of %q: %v", serviceName(one), one, problems)
		}
		if problems := validation.IsDNS1123Subdomain(secretName(one)); len(problems) > 0 {
			t.Errorf("Secret %q of %q: %v", secretName(one), one, problems)
		}
		if one != other && (serviceName(one) == serviceName(other) || secretName(one) == secretName(other)) {
			t.Errorf("%q and %q share a child", one, other)
		}
	})
}

func TestOnlyAddressesThatLeadToAVMArePublished(t *testing.T) {
	allowed := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	octet := rapid.Byte()
	rapid.Check(t, func(t *rapid.T) {
		reported := rapid.SliceOf(rapid.OneOf(
			rapid.Custom(func(t *rapid.T) string {
				return netip.AddrFrom4([4]byte{octet.Draw(t, "a"), octet.Draw(t, "b"), octet.Draw(t, "c"), octet.Draw(t, "d")}).String()
			}),
			rapid.SampledFrom([]string{
				"127.0.0.1", "::1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "0.0.0.0", "::", "224.0.0.1", "ff02::1",
				"::ffff:127.0.0.1", "::ffff:192.0.2.1", "192.0.2.1", "2001:db8::1", "", "host.example.com", "192.0.2.1/24",
			}),
		)).Draw(t, "reported")
		for _, limits := range [][]netip.Prefix{nil, allowed} {
			seen := map[netip.Addr]bool{}
			for _, address := range publishable(reported, limits) {
				harmless := address.IsGlobalUnicast() && !address.IsLoopback() && !address.IsLinkLocalUnicast() && !address.Is4In6()
				if !harmless || seen[address] || !named(address, limits) {
					t.Errorf("%s is published of %q within %v", address, reported, limits)
				}
				seen[address] = true
			}
		}
	})
}

func TestAMergedChildNeedsNoSecondMerge(t *testing.T) {
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "uid"}}
	machine := provider.Machine{ID: "vm-1", Phase: provider.PhaseRunning}
	wanted := desiredChildren(vm, machine, []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")})

	service := &corev1.Service{Spec: corev1.ServiceSpec{
		Type:     corev1.ServiceTypeNodePort,
		Selector: map[string]string{"app": "theirs"},
		Ports:    []corev1.ServicePort{{Name: "ssh", Port: 2222, NodePort: 30022}},
	}}
	if !mergeAny(service, wanted.service) || mergeAny(service, wanted.service) {
		t.Errorf("Service %+v", service)
	}
	if service.Spec.Ports[0].NodePort != 30022 || service.Spec.Type != corev1.ServiceTypeNodePort {
		t.Errorf("what is not ours of the Service was changed: %+v", service.Spec)
	}
	secret := &corev1.Secret{Data: map[string][]byte{"password": []byte("theirs")}}
	if !mergeAny(secret, wanted.secret) || mergeAny(secret, wanted.secret) || len(secret.Data) != 3 {
		t.Errorf("Secret %+v", secret)
	}
	for family, slice := range wanted.slices {
		if current := slice.DeepCopy(); mergeAny(current, slice) {
			t.Errorf("slice of %s differs from itself", family)
		}
	}
}
