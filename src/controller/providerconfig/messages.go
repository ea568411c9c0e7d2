package providerconfig

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
)

// message is what a condition says for a reason: what is the matter, and what to
// do. It is made of our own words, names and numbers that users gave, and what
// changes only when the matter does: an error's text could hold a port or a time
// and make every pass a write.
func message(p *pass, reason string) string {
	endpoint := p.config.Spec.Endpoint
	switch reason {
	case computev1.ReasonProbed:
		return "endpoint and credentials were tried and work"
	case computev1.ReasonSynced:
		return "the provider is the one that was accepted"
	case computev1.ReasonProbing:
		return "endpoint and credentials are being tried"
	case computev1.ReasonSecretNotFound, computev1.ReasonSecretInvalid:
		return secretMessage(p)
	case computev1.ReasonEndpointInvalid:
		return fmt.Sprintf("no connection to %s can be set up with these settings: check spec", endpoint)
	case computev1.ReasonEndpointRefused:
		return fmt.Sprintf("%s leads to an address that the operator may not dial, such as a loopback, link-local or metadata "+
			"address: change spec.endpoint, or let the operator's administrator allow it with --allow-endpoint-cidrs", endpoint)
	case computev1.ReasonUnreachable:
		return fmt.Sprintf("no connection to %s, or no answer in time: check spec.endpoint, the provider, DNS and network "+
			"policies; it is tried again and again", endpoint)
	case computev1.ReasonCircuitOpen:
		return fmt.Sprintf("%s answers the probe, but calls for VMs failed one after another: they are held back, and one at a time "+
			"is tried until one succeeds; check the provider", endpoint)
	case computev1.ReasonUnauthorized:
		return unauthorizedMessage(p)
	case computev1.ReasonProtocol:
		return fmt.Sprintf("%s answers, but not as a provider of VMs does: check that spec.endpoint is the base URL of its API, "+
			"and not a web page or a redirect", endpoint)
	case computev1.ReasonInUse:
		return fmt.Sprintf("%d VirtualMachines refer to this ProviderConfig: delete them; it goes with the last one",
			max(1, len(p.virtualMachines)))
	}
	return heldMessage(p, reason)
}

func secretMessage(p *pass) string {
	c := p.credentials
	if c.verdict == decide.CredentialsMissing {
		return fmt.Sprintf("Secret %q %s", c.secret, c.problem)
	}
	return fmt.Sprintf("key %q of Secret %q %s: correct it", c.key, c.secret, c.problem)
}

func unauthorizedMessage(p *pass) string {
	ref := p.config.Spec.SecretRef
	if ref == nil {
		return "the provider wants credentials: name a Secret with its API key in spec.secretRef"
	}
	return fmt.Sprintf("the provider refuses the API key: correct key %q of Secret %q", computev1.APIKeyKey, ref.Name)
}

// heldMessage is for the reasons that a person's annotation releases.
func heldMessage(p *pass, reason string) string {
	release := fmt.Sprintf("annotate this object with %s=%s", computev1.ReleaseAnnotation, reason)
	switch reason {
	case computev1.ReasonEndpointChanged:
		return fmt.Sprintf("the endpoint was changed from %s while VirtualMachines exist, and the provider tells no identity that "+
			"could prove that their VMs are there: change it back, or, if they are, annotate this object with %s=true",
			p.status.Endpoint, computev1.AllowEndpointChangeAnnotation)
	case computev1.ReasonIdentityChanged:
		return fmt.Sprintf("the provider calls itself %q, but the VMs were made at %q; nothing is made or deleted: correct the "+
			"endpoint or the credentials, or, if this is the same provider under another name, %s",
			p.memory.capabilities.Identity, p.status.Identity, release)
	case computev1.ReasonCapabilitiesShrunk:
		return fmt.Sprintf("the provider does not offer %s any more, which existing VMs rely on; nothing is made or deleted: "+
			"restore it, or, to go on without, %s", strings.Join(p.lostCapabilities(), ", "), release)
	case computev1.ReasonMassDisappearance:
		stalled := meta.FindStatusCondition(p.status.Conditions, computev1.ConditionStalled)
		if stalled != nil && stalled.Reason == reason {
			// The numbers are those of when it was found.
			return stalled.Message
		}
		return fmt.Sprintf("%d of %d VMs disappeared from the provider at once; nothing is made or deleted: check the provider, "+
			"and if they are gone and shall be made again, %s", p.vanished, p.total, release)
	}
	return ""
}
