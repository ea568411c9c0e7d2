package providerconfig_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider/registry"
)

// lookPatience is longer than any wait for a Secret.
const lookPatience = 2 * time.Minute

// marked reports whether a Secret carries our label and finalizer; it fails if it
// carries only one, for they are set in one patch.
func (r *rig) marked(name string) bool {
	r.t.Helper()
	secret := &corev1.Secret{}
	must(r.t, kube.Get(r.t.Context(), r.key(name), secret))
	label := secret.Labels[computev1.WatchedLabel] == computev1.WatchedLabelValue
	finalizer := slices.Contains(secret.Finalizers, computev1.CredentialsFinalizer)
	if label != finalizer {
		r.t.Errorf("Secret %s: label %t, finalizer %t", name, label, finalizer)
	}
	return label
}

func (r *rig) marks(name string, want bool) {
	r.t.Helper()
	r.eventually("the marks of Secret "+name, func() string { return unless(r.marked(name) == want, "are not as they should be") })
}

func TestARotatedKeyIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.want("old")
	secret := r.secret("key", "old")
	r.config("aws", withSecret("key"))
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.marks("key", true)
	first := r.entered(registry.Ready)

	r.want(marker)
	edit(r, secret, func(s *corev1.Secret) { s.Data[computev1.APIKeyKey] = []byte(marker) })
	r.told("CredentialsRotated")
	r.shown("aws", showsReady)
	second := r.entered(registry.Ready)
	if second.Client == first.Client || second.Revision == first.Revision {
		t.Error("the registry still hands out the old client")
	}
	r.eventually("the old client", func() string { return unless(r.openClients() == 1, "is not closed") })

	edit(r, secret, func(s *corev1.Secret) { s.Data[computev1.APIKeyKey] = []byte("wrong") })
	r.shown("aws", showsStalled(computev1.ReasonUnauthorized))
	if entry := r.entered(registry.NotReady); entry.Reason != computev1.ReasonUnauthorized {
		t.Errorf("the registry says %s", entry.Reason)
	}
}

func TestASecretIsKeptWhileVMsNeedIt(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.secret("key", marker)
	r.config("aws", withSecret("key"))
	r.shown("aws", showsReady)
	r.marks("key", false)

	vm := r.vms("aws", 1)[0]
	r.marks("key", true)
	must(t, kube.Delete(t.Context(), vm))
	r.marks("key", false)
}

func TestASecretThatIsDeletedOutlivesItsVMs(t *testing.T) {
	t.Parallel()
	r := started(t)
	secret := r.secret("key", marker)
	r.config("aws", withSecret("key"))
	vm := r.vms("aws", 1)[0]
	r.marks("key", true)
	must(t, kube.Delete(t.Context(), secret))
	r.poll()
	r.shown("aws", showsReady)
	r.entered(registry.Ready)

	must(t, kube.Delete(t.Context(), vm))
	r.eventually("the Secret", func() string {
		return unless(client.IgnoreNotFound(kube.Get(t.Context(), r.key("key"), secret)) == nil &&
			kube.Get(t.Context(), r.key("key"), secret) != nil, "still exists")
	})
}

func TestMarksFollowTheReferenceThereAndBack(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.secret("a", marker)
	r.secret("b", marker+"-b")
	config := r.config("aws", withSecret("a"))
	r.vms("aws", 1)
	r.marks("a", true)

	edit(r, config, withSecret("b"))
	r.marks("b", true)
	r.marks("a", false)
	edit(r, config, withSecret("a"))
	r.marks("a", true)
	r.marks("b", false)
	r.shown("aws", showsReady)
}

func TestASharedSecretIsKeptForTheOtherProviderConfig(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.secret("key", marker)
	r.config("aws", withSecret("key"))
	r.config("azure", withSecret("key"))
	vm := r.vms("aws", 1)[0]
	r.vms("azure", 1)
	r.shown("aws", showsReady)
	r.shown("azure", showsReady)
	r.marks("key", true)
	must(t, kube.Delete(t.Context(), vm))
	r.eventually("the count", func() string { return unless(r.read("aws").Status.VirtualMachines == 0, "is not 0") })
	r.poll()
	r.marks("key", true)
}

func TestMarksThatAPersonRemovesComeBack(t *testing.T) {
	t.Parallel()
	r := started(t)
	secret := r.secret("key", marker)
	r.config("aws", withSecret("key"))
	r.vms("aws", 1)
	r.marks("key", true)
	edit(r, secret, func(s *corev1.Secret) { s.Labels, s.Finalizers = nil, nil })
	r.marks("key", true)
}
