package rights

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/operator"
)

// TestEveryRightIsUsedAndNoneIsMissing installs the chart in the ways that differ in
// rights, lives through all that needs one, and reads the audit log at the end.
func TestEveryRightIsUsedAndNoneIsMissing(t *testing.T) {
	// Before the others claim namespaces: it would stay out. It leaves no claim itself, for it has no second pod.
	t.Run("all namespaces are watched, and metrics are for some", watchAll)
	t.Run("side by side", func(t *testing.T) {
		t.Run("VMs live, with whatever can happen to them", live)
		t.Run("a namespace is deleted with its VM", outlive)
	})
	if t.Failed() {
		return
	}
	grants, err := allGrants()
	if err != nil {
		t.Fatal(err)
	}
	report, err := Check(bytes.NewReader(wholeLog(t)), grants, Full)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n\n%s", report, report.Table())
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}

// wholeLog is the log with all that has happened: it gets a request when that has
// been answered, and one of our own, made now, comes last.
func wholeLog(t *testing.T) []byte {
	t.Helper()
	mark := namespace(t)
	var log []byte
	operator.WaitFor(t, "the audit log", func(context.Context) bool {
		var err error
		log, err = os.ReadFile(auditLog)
		return err == nil && bytes.Contains(log, []byte(mark)) && bytes.HasSuffix(log, []byte("\n"))
	})
	return log
}

const loopback = "--set=provider.allowEndpointCIDRs={127.0.0.0/8}"

func startProvider(t *testing.T) (p *fake.Provider, endpoint string) {
	t.Helper()
	p = fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})
	server := httptest.NewServer(wire.Handler(p))
	t.Cleanup(server.Close)
	return p, server.URL
}

func watchAll(t *testing.T) {
	i := install(t, "vmoperator-all", "--set=rbac.scope=cluster,metrics.secure=true,leaderElection.enabled=false")
	i.start()
	i.operator.WantProbe("/readyz", 200)

	reader := &corev1.ServiceAccount{ObjectMeta: i.meta("reader")}
	create(t, reader)
	token := &authenticationv1.TokenRequest{}
	if err := kube.SubResource("token").Create(t.Context(), reader, token); err != nil {
		t.Fatal(err)
	}
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "reader-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbac, Kind: "ClusterRole", Name: i.name + "-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: i.team, Name: "reader"}},
	})
	operator.WaitFor(t, "the metrics", func(ctx context.Context) bool {
		status, err := i.operator.SecureMetrics(ctx, token.Status.Token)
		return err == nil && status == 200
	})
	i.stop()
}

func outlive(t *testing.T) {
	t.Parallel()
	_, endpoint := startProvider(t)
	i := install(t, "vmoperator-kept", loopback, "--set=watchNamespaces={TEAM},rbac.survivesNamespaceDeletion=true")
	i.start()
	i.credentials()
	config := i.provider(endpoint)
	create(t, config)
	vm := i.vm("web")
	i.running("web")
	// The last child: in a namespace that is being deleted none is made.
	i.awaits("the EndpointSlice", &discoveryv1.EndpointSlice{ObjectMeta: i.meta("web-ipv4")}, func() bool { return true })
	place := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: i.team}}
	if err := kube.Delete(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	// Step by step: the namespace controller looks again after ever longer pauses.
	for _, object := range []client.Object{vm, config, &corev1.Secret{ObjectMeta: i.meta("credentials")}, place} {
		i.gone(object)
	}
	i.stop()
}

func (i *installation) credentials() {
	i.t.Helper()
	create(i.t, &corev1.Secret{ObjectMeta: i.meta("credentials"), Data: map[string][]byte{computev1.APIKeyKey: []byte("key")}})
}

// provider is a ProviderConfig with credentials.
func (i *installation) provider(endpoint string) *computev1.ProviderConfig {
	return builders.ProviderConfig(i.team, computev1.DefaultProviderConfig, endpoint, func(config *computev1.ProviderConfig) {
		config.Spec.SecretRef = &computev1.SecretReference{Name: "credentials"}
	})
}

func live(t *testing.T) {
	t.Parallel()
	p, endpoint := startProvider(t)
	i := install(t, "vmoperator-life", loopback, "--set=watchNamespaces={TEAM},uninstallGuard.enabled=true,provider.defaultEndpoint="+endpoint)
	i.start()
	config := &computev1.ProviderConfig{ObjectMeta: i.meta(computev1.DefaultProviderConfig)}
	i.awaits("the default provider", config, func() bool {
		return meta.IsStatusConditionTrue(config.Status.Conditions, computev1.ConditionReady)
	})
	i.credentials()
	change(i, config, func(config *computev1.ProviderConfig) {
		config.Spec.SecretRef = &computev1.SecretReference{Name: "credentials"}
		config.Spec.PollInterval = &metav1.Duration{Duration: time.Second}
	})
	i.children(p)
	i.foreignChildren()
	i.contested(p)
	i.rotated()
	i.unmarked()
	i.autoscaled()
	i.exposed()
	i.secondRelease()
	if status := i.smokeTest(); status != 0 {
		t.Errorf("the smoke test ended with %d", status)
	}
	if status := i.uninstallGuard(); status != 1 {
		t.Errorf("the uninstall guard ended with %d, want a refusal: there is a ProviderConfig", status)
	}
	i.deleted(config)
	i.stop()
}

// children has every child of a VM changed, by everybody who does.
func (i *installation) children(p *fake.Provider) {
	i.t.Helper()
	vm := i.vm("web")
	id := i.running("web")
	slice := &discoveryv1.EndpointSlice{ObjectMeta: i.meta("web-ipv4")}
	i.awaits("the EndpointSlice", slice, func() bool { return true })

	secret := &corev1.Secret{ObjectMeta: i.meta("web-connection")}
	change(i, secret, func(secret *corev1.Secret) { secret.Data["id"] = []byte("wrong") })
	i.awaits("the connection Secret to be put right", secret, func() bool { return string(secret.Data["id"]) == id })

	for port := range int32(2) {
		change(i, vm, func(vm *computev1.VirtualMachine) {
			vm.Spec.Service = &computev1.VirtualMachineService{Ports: []computev1.VirtualMachinePort{{Name: "web", Port: 80 + port}}}
		})
		i.awaits("the ports to follow", slice, func() bool { return *slice.Ports[0].Port == 80+port })
	}
	p.Change(id, func(machine *provider.Machine) { machine.Addresses = nil })
	i.gone(slice)
}

// foreignChildren has somebody else's objects stand where children belong.
func (i *installation) foreignChildren() {
	i.t.Helper()
	const name = "taken"
	port := []corev1.ServicePort{{Name: "ssh", Port: 22}}
	create(i.t, &corev1.Service{ObjectMeta: i.meta(name), Spec: corev1.ServiceSpec{Ports: port}})
	create(i.t, &discoveryv1.EndpointSlice{ObjectMeta: i.meta(name + "-ipv4"), AddressType: discoveryv1.AddressTypeIPv4})
	vm := i.vm(name)
	i.awaits("the conflict to be told", vm, func() bool {
		stalled := meta.FindStatusCondition(vm.Status.Conditions, computev1.ConditionStalled)
		return stalled != nil && stalled.Reason == computev1.ReasonChildConflict
	})
}

// contested has somebody edit an object while its VM is made.
func (i *installation) contested(p *fake.Provider) {
	i.t.Helper()
	asked, answer := make(chan struct{}), make(chan struct{})
	p.Inject(fake.Fault{Op: provider.OperationCreate, When: fake.After, Block: answer, Hook: func(fake.Entry) { close(asked) }})
	vm := i.vm("contested")
	select {
	case <-asked:
	case <-i.t.Context().Done():
		i.t.Fatal("no VM was asked for")
	}
	change(i, vm, func(vm *computev1.VirtualMachine) { vm.Labels = map[string]string{"edited": "true"} })
	close(answer)
	i.running("contested")
}

// rotated changes the API key until that is told twice of the same version of the
// ProviderConfig: an event that repeats is counted, and not made again.
func (i *installation) rotated() {
	i.t.Helper()
	secret := &corev1.Secret{ObjectMeta: i.meta("credentials")}
	for n := 1; ; n++ {
		change(i, secret, func(secret *corev1.Secret) {
			secret.Data[computev1.APIKeyKey] = fmt.Appendf(nil, "key-%d", n)
		})
		told, repeated := int32(0), false
		operator.WaitFor(i.t, "the rotation to be told", func(ctx context.Context) bool {
			events := &eventsv1.EventList{}
			if kube.List(ctx, events, client.InNamespace(i.team)) != nil {
				return false
			}
			told = 0
			for _, event := range events.Items {
				switch {
				case event.Reason != "CredentialsRotated":
				case event.Series != nil:
					told, repeated = told+event.Series.Count, true
				default:
					told++
				}
			}
			return repeated || told >= int32(n) //nolint:gosec // a few
		})
		if repeated {
			return
		}
	}
}

// unmarked deletes all VMs, one of them with its VM left, so that nobody needs the
// credentials any more.
func (i *installation) unmarked() {
	i.t.Helper()
	i.vm("kept", func(vm *computev1.VirtualMachine) { vm.Spec.DeletionPolicy = computev1.DeletionPolicyRetain })
	i.running("kept")
	secret := &corev1.Secret{ObjectMeta: i.meta("credentials")}
	i.awaits("the credentials to be kept", secret, func() bool { return len(secret.Finalizers) > 0 })
	for _, name := range []string{"web", "taken", "contested", "kept"} {
		i.deleted(&computev1.VirtualMachine{ObjectMeta: i.meta(name)})
	}
	i.awaits("the credentials to be let go", secret, func() bool { return len(secret.Finalizers) == 0 })
}

// secondRelease finds out that somebody works in a namespace, and stays out of all.
func (i *installation) secondRelease() {
	i.t.Helper()
	second := install(i.t, "vmoperator-second", "--set=rbac.scope=cluster")
	second.start()
	second.operator.WantLine("staying out", "works in namespace")
	second.operator.Kill()
}
