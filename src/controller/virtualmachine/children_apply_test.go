package virtualmachine_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

// settled is a world with one running VM and all its children.
func settled(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, full())
	w.vm("web")
	w.awaitsRunning("web")
	w.awaitsEvent("web", "Applied")
	return w
}

// child reads a child past every cache.
func child[T client.Object](w *world, name string, into T) T {
	w.t.Helper()
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, into))
	return into
}

func TestWhatPeopleDoToChildrenIsPutBack(t *testing.T) {
	w := settled(t)
	wantSecret := child(w, "web-connection", &corev1.Secret{}).Data
	wantPorts := child(w, "web", &corev1.Service{}).Spec.Ports
	wantEndpoints := child(w, "web-ipv4", &discoveryv1.EndpointSlice{}).Endpoints
	restored := func(t *testing.T) {
		t.Helper()
		w.eventually(func() string {
			secret, service, slice := &corev1.Secret{}, &corev1.Service{}, &discoveryv1.EndpointSlice{}
			for name, object := range map[string]client.Object{"web-connection": secret, "web": service, "web-ipv4": slice} {
				if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, object); err != nil {
					return err.Error()
				}
				if object.GetLabels()[computev1.WatchedLabel] != computev1.WatchedLabelValue {
					return name + " lacks its label"
				}
			}
			return cmp.Diff(wantSecret, secret.Data) + cmp.Diff(wantPorts, service.Spec.Ports) +
				cmp.Diff(wantEndpoints, slice.Endpoints) + cmp.Diff(map[string]string(nil), service.Spec.Selector)
		})
	}
	for name, harm := range map[string]func(){
		"a deleted Secret": func() {
			w.must(w.client.Delete(t.Context(), child(w, "web-connection", &corev1.Secret{})))
		},
		"an added key in the Secret": func() {
			secret := child(w, "web-connection", &corev1.Secret{})
			secret.Data["password"] = []byte("theirs")
			w.must(w.client.Update(t.Context(), secret))
		},
		"a changed value in the Secret": func() {
			secret := child(w, "web-connection", &corev1.Secret{})
			secret.Data["host"] = []byte("203.0.113.9")
			w.must(w.client.Update(t.Context(), secret))
		},
		"a deleted Service": func() {
			service := child(w, "web", &corev1.Service{})
			w.must(w.client.Delete(t.Context(), service))
			wantPorts = []corev1.ServicePort{{Name: "ssh", Port: 22, Protocol: "TCP", TargetPort: wantPorts[0].TargetPort}}
		},
		"an added port of the Service": func() {
			service := child(w, "web", &corev1.Service{})
			service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "backdoor", Port: 4444})
			w.must(w.client.Update(t.Context(), service))
		},
		"a selector on the Service": func() {
			service := child(w, "web", &corev1.Service{})
			service.Spec.Selector = map[string]string{"app": "theirs"}
			w.must(w.client.Update(t.Context(), service))
		},
		"a changed EndpointSlice": func() {
			slice := child(w, "web-ipv4", &discoveryv1.EndpointSlice{})
			slice.Endpoints[0].Addresses = []string{"203.0.113.9"}
			w.must(w.client.Update(t.Context(), slice))
		},
		"a deleted EndpointSlice": func() {
			w.must(w.client.Delete(t.Context(), child(w, "web-ipv4", &discoveryv1.EndpointSlice{})))
		},
		"a removed label": func() {
			secret := child(w, "web-connection", &corev1.Secret{})
			delete(secret.Labels, computev1.WatchedLabel)
			w.must(w.client.Update(t.Context(), secret))
		},
	} {
		t.Run(name, func(t *testing.T) {
			harm()
			restored(t)
		})
	}
	w.live(1)
}

func TestAConflictWithAStaleCacheIsNobodysTrouble(t *testing.T) {
	w := newWorld(t, full())
	var conflicts atomic.Int32
	w.refuse = func(object client.Object) error {
		if conflicts.Add(1) > 3 {
			return nil
		}
		return apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, object.GetName(), errors.New("the object has been modified"))
	}
	w.vm("web")
	w.awaitsRunning("web")
	w.awaitsEvent("web", "Applied")
	secret := child(w, "web-connection", &corev1.Secret{})
	secret.Data["id"] = []byte("theirs")
	w.must(w.client.Update(t.Context(), secret))
	w.eventually(func() string {
		if got := string(child(w, "web-connection", &corev1.Secret{}).Data["id"]); got == "theirs" {
			return "not put back"
		}
		return ""
	})
	if got := conflicts.Load(); got != 4 {
		t.Errorf("%d updates, want 3 conflicts and one that succeeds", got)
	}
	var list eventsv1.EventList
	w.must(w.client.List(t.Context(), &list, client.InNamespace(w.namespace)))
	for _, event := range list.Items {
		if event.Reason == computev1.ReasonChildError {
			t.Errorf("event %q", event.Note)
		}
	}
}

func TestWhatOthersAddBesideOurFieldsStays(t *testing.T) {
	w := settled(t)
	service := child(w, "web", &corev1.Service{})
	metav1.SetMetaDataLabel(&service.ObjectMeta, "team", "a")
	service.Spec.Type = corev1.ServiceTypeNodePort
	w.must(w.client.Update(t.Context(), service))
	w.looksAgain("web")
	service = child(w, "web", &corev1.Service{})
	if service.Labels["team"] != "a" || service.Spec.Type != corev1.ServiceTypeNodePort || service.Spec.Ports[0].NodePort == 0 {
		t.Errorf("taken away: labels %v, spec %+v", service.Labels, service.Spec)
	}
}

func TestAnObjectOfSomebodyElseIsNeverTakenOver(t *testing.T) {
	w := newWorld(t, full())
	foreign := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "web-connection"},
		StringData: map[string]string{"password": "theirs"},
	}
	w.must(w.client.Create(t.Context(), foreign))
	w.vm("web")
	w.awaitsStalled("web", computev1.ReasonChildConflict)
	w.awaitsEvent("web", computev1.ReasonChildConflict)
	vm := w.awaits("web", computev1.ConditionReady, metav1.ConditionTrue, "")
	if message := findCondition(vm, computev1.ConditionSynced).Message; !strings.Contains(message, "Secret web-connection") {
		t.Errorf("the message does not name the object: %q", message)
	}
	secret := child(w, "web-connection", &corev1.Secret{})
	if string(secret.Data["password"]) != "theirs" || len(secret.OwnerReferences) != 0 || len(secret.Data) != 1 {
		t.Errorf("the foreign Secret was changed: %+v", secret)
	}
	w.must(w.client.Delete(t.Context(), foreign))
	w.awaitsRunning("web")
}

func TestAVMWithoutAddressHasASecretWithItsIDAlone(t *testing.T) {
	w := newWorld(t, fake.Options{Phase: provider.PhaseRunning, NoAddresses: true})
	w.vm("web")
	w.awaits("web", computev1.ConditionUnaddressed, metav1.ConditionTrue, computev1.ReasonNoAddress)
	w.awaitsEvent("web", "Applied")
	if data := child(w, "web-connection", &corev1.Secret{}).Data; len(data) != 1 || len(data["id"]) == 0 {
		t.Errorf("connection Secret holds %q", data)
	}
	w.provider.Change(w.provider.Live()[0].ID, func(m *provider.Machine) { m.Addresses = []string{"2001:db8::7"} })
	w.awaitsAddressed("web")
	w.eventually(func() string {
		slice := &discoveryv1.EndpointSlice{}
		if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "web-ipv6"}, slice); err != nil {
			return err.Error()
		}
		return cmp.Diff([]string{"2001:db8::7"}, slice.Endpoints[0].Addresses)
	})
	w.provider.Change(w.provider.Live()[0].ID, func(m *provider.Machine) { m.Addresses = []string{"192.0.2.9"} })
	w.eventually(func() string {
		err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "web-ipv6"}, &discoveryv1.EndpointSlice{})
		if client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Sprintf("the IPv6 slice stays (%v)", err)
		}
		return ""
	})
}

func TestAddressesThatMayNotBePublishedAreNot(t *testing.T) {
	w := newWorld(t, fake.Options{Phase: provider.PhaseRunning, NoAddresses: true})
	w.stop()
	w.options.VMAddressCIDRs = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	w.startManager()
	w.ready("default")
	w.vm("web")
	id := w.awaitsRunning("web").Status.ID
	for _, address := range []string{"127.0.0.1", "169.254.169.254", "203.0.113.9", "::1", "fe80::1", "not an address"} {
		w.provider.Change(id, func(m *provider.Machine) { m.Addresses = []string{address} })
		w.awaits("web", computev1.ConditionUnaddressed, metav1.ConditionTrue, computev1.ReasonAddressRefused)
		w.provider.Change(id, func(m *provider.Machine) { m.Addresses = []string{address, "192.0.2.7"} })
		vm := w.awaitsAddressed("web")
		if diff := cmp.Diff([]string{"192.0.2.7"}, vm.Status.Addresses); diff != "" {
			t.Errorf("published (-want +got):\n%s", diff)
		}
	}
}

func TestANameThatNoServiceCanHaveIsShortenedAndShown(t *testing.T) {
	w := newWorld(t, full())
	for _, name := range []string{"1-begins-with-a-digit", "has.dots", strings.Repeat("long", 60)} {
		w.vm(name)
		vm := w.awaitsRunning(name)
		if vm.Status.ServiceName == "" || vm.Status.ServiceName == name || len(vm.Status.ServiceName) > 63 {
			t.Errorf("%s: Service name %q", name, vm.Status.ServiceName)
		}
		w.awaitsEvent(name, "Applied")
		child(w, vm.Status.ServiceName, &corev1.Service{})
	}
}

func TestDeclaredPortsReachServiceSliceAndSecret(t *testing.T) {
	w := newWorld(t, full())
	w.vm("web", func(vm *computev1.VirtualMachine) {
		vm.Spec.Service = &computev1.VirtualMachineService{Ports: []computev1.VirtualMachinePort{
			{Name: "https", Port: 443, TargetPort: 8443}, {Name: "dns", Port: 53, Protocol: "UDP"},
		}}
	})
	w.awaitsRunning("web")
	w.awaitsEvent("web", "Applied")
	if got := string(child(w, "web-connection", &corev1.Secret{}).Data["port"]); got != "8443" {
		t.Errorf("port %q in the Secret", got)
	}
	ports := child(w, "web-ipv4", &discoveryv1.EndpointSlice{}).Ports
	if *ports[0].Port != 8443 || *ports[0].Name != "https" || *ports[1].Protocol != "UDP" {
		t.Errorf("ports of the slice: %+v", ports)
	}
	w.edit("web", func(vm *computev1.VirtualMachine) {
		vm.Spec.Service.Ports = vm.Spec.Service.Ports[:1]
	})
	w.eventually(func() string {
		if got := len(child(w, "web", &corev1.Service{}).Spec.Ports); got != 1 {
			return fmt.Sprintf("the Service has %d ports", got)
		}
		return ""
	})
}

func TestChildrenGoWithTheirOwner(t *testing.T) {
	w := settled(t)
	w.delete("web")
	w.awaitsGone("web")
	w.eventually(func() string {
		for name, object := range map[string]client.Object{
			"web-connection": &corev1.Secret{}, "web": &corev1.Service{}, "web-ipv4": &discoveryv1.EndpointSlice{},
		} {
			if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, object); err == nil {
				return fmt.Sprintf("%T %s is not collected", object, name)
			}
		}
		return ""
	})
}
