package providerconfig_test

import (
	"slices"
	"strings"
	"testing"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

// release annotates the ProviderConfig aws, and waits until that was used.
func (r *rig) release(annotation, value string) {
	r.t.Helper()
	edit(r, r.read("aws"), annotate(annotation, value))
	r.eventually("the annotation", func() string {
		_, found := r.read("aws").Annotations[annotation]
		return unless(!found, "is still there")
	})
}

func TestAnotherIdentityIsHeldUntilReleasedOnce(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)

	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "red", Offered: []string{"idempotency", "list"}})
	r.poll()
	config := r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
	if config.Status.Identity != "blue" {
		t.Errorf("status.identity became %q without a release", config.Status.Identity)
	}
	entry := r.entered(registry.Held)
	if entry.Client == nil || entry.Reason != computev1.ReasonIdentityChanged || !slices.Equal(entry.Identities, []string{"blue"}) {
		t.Errorf("the registry's entry is %+v", entry)
	}
	if note := r.told(computev1.ReasonIdentityChanged); !strings.Contains(note, "compute.example.com/release=IdentityChanged") {
		t.Errorf("the event does not say how to release: %s", note)
	}

	r.release(computev1.ReleaseAnnotation, computev1.ReasonIdentityChanged)
	config = r.shown("aws", showsReady)
	if config.Status.Identity != "red" || !slices.Equal(config.Status.FormerIdentities, []string{"blue"}) {
		t.Errorf("identity %q, former %q", config.Status.Identity, config.Status.FormerIdentities)
	}
	if entry := r.entered(registry.Ready); !slices.Equal(entry.Identities, []string{"red", "blue"}) {
		t.Errorf("the registry knows %q", entry.Identities)
	}
	r.told("Released")

	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "green", Offered: []string{"idempotency", "list"}})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
}

func TestTheOldIdentityEndsTheHoldByItself(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "blue", Offered: []string{"idempotency", "list"}})
	r.poll()
	r.shown("aws", showsReady)
	r.entered(registry.Ready)
}

func TestAnotherIdentityWithoutVMsIsAccepted(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "red"})
	r.poll()
	if status := r.shown("aws", showsReady).Status; status.Identity != "red" || len(status.FormerIdentities) > 0 {
		t.Errorf("identity %q, former %q", status.Identity, status.FormerIdentities)
	}
}

func TestVMsFromBeforeAProviderToldItsIdentityStayItsOwn(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "blue"})
	r.poll()
	r.eventually("the identity", func() string { return unless(r.read("aws").Status.Identity == "blue", "is not accepted") })
	if entry := r.entered(registry.Ready); !slices.Equal(entry.Identities, []string{"blue", ""}) {
		t.Errorf("the registry knows %q", entry.Identities)
	}
}

func TestFewerCapabilitiesAreHeldUntilReleased(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "blue", Offered: []string{"list"}})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonCapabilitiesShrunk))
	r.entered(registry.Held)
	if note := r.told(computev1.ReasonCapabilitiesShrunk); !strings.Contains(note, "idempotency") {
		t.Errorf("the event does not say what is lost: %s", note)
	}
	r.release(computev1.ReleaseAnnotation, computev1.ReasonCapabilitiesShrunk)
	if config := r.shown("aws", showsReady); !slices.Equal(config.Status.Capabilities, []string{"list"}) {
		t.Errorf("capabilities %q", config.Status.Capabilities)
	}
	r.entered(registry.Ready)
}

func TestAReleaseThatReleasesNothingDoesNotLieInWait(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.release(computev1.ReleaseAnnotation, computev1.ReasonIdentityChanged)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: "red", Offered: []string{"idempotency", "list"}})
	r.poll()
	r.shown("aws", showsStalled(computev1.ReasonIdentityChanged))
}

const elsewhere = "https://elsewhere.example.com"

func TestAProviderWithoutIdentityIsNotFollowedUnasked(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	config := r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)

	edit(r, config, at(elsewhere))
	r.shown("aws", showsStalled(computev1.ReasonEndpointChanged))
	if entry := r.entered(registry.NotReady); entry.Reason != computev1.ReasonEndpointChanged {
		t.Errorf("the registry says %s", entry.Reason)
	}
	if calls := r.provider(elsewhere).Ledger(); len(calls) > 0 {
		t.Errorf("%d calls were made at the new endpoint", len(calls))
	}
	if note := r.told(computev1.ReasonEndpointChanged); !strings.Contains(note, "compute.example.com/allow-endpoint-change=true") {
		t.Errorf("the event does not say how to allow it: %s", note)
	}
	r.release(computev1.AllowEndpointChangeAnnotation, "true")
	if status := r.shown("aws", showsReady).Status; status.Endpoint != elsewhere {
		t.Errorf("status.endpoint is %s", status.Endpoint)
	}
}

func TestAnEndpointMayGoBack(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	config := r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	edit(r, config, at(elsewhere))
	r.shown("aws", showsStalled(computev1.ReasonEndpointChanged))
	edit(r, config, at(endpoint))
	r.shown("aws", showsReady)
	r.entered(registry.Ready)
}

func TestAnEndpointWhoseVMsAreGoneIsTried(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{})
	config := r.config("aws")
	vm := r.vms("aws", 1)[0]
	r.shown("aws", showsReady)
	r.provider(elsewhere)
	edit(r, config, at(elsewhere))
	r.shown("aws", showsStalled(computev1.ReasonEndpointChanged))
	must(t, kube.Delete(t.Context(), vm))
	r.shown("aws", showsReady)
	if calls := len(r.provider(elsewhere).Ledger()); calls == 0 {
		t.Error("the new endpoint was never called")
	}
}

func TestTheSameIdentityIsFollowedToANewEndpoint(t *testing.T) {
	t.Parallel()
	r := started(t)
	config := r.config("aws")
	r.vms("aws", 1)
	r.shown("aws", showsReady)
	r.provider(elsewhere).SetCapabilities(provider.Capabilities{Identity: "blue", Offered: []string{"idempotency", "list"}})
	edit(r, config, at(elsewhere))
	r.eventually("the endpoint", func() string { return unless(r.read("aws").Status.Endpoint == elsewhere, "is the old one") })
	r.shown("aws", showsReady)
	r.entered(registry.Ready)
	r.eventually("the old client", func() string { return unless(r.openClients() == 1, "is not closed") })
}
