package providerconfig

import (
	"strings"
	"testing"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/test/builders"
)

// The apiserver's client refuses to ask for some of them, for ever.
func TestASecretThatCannotExistIsNotAskedFor(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../other/secret", "%s", "A", " ", "a_b", strings.Repeat("a", 253) + "é"} {
		config := builders.ProviderConfig("team", "default", "https://vms.example.com", func(config *computev1.ProviderConfig) {
			config.Spec.SecretRef = &computev1.SecretReference{Name: name}
		})
		// Without a client, which it would panic to use.
		read, err := (&Reconciler{}).readCredentials(t.Context(), config)
		if err != nil || read.verdict != decide.CredentialsMissing {
			t.Errorf("%q: %v, %v", name, read.verdict, err)
		}
		if said := secretMessage(&pass{config: config, credentials: read}); !strings.Contains(said, "correct the reference") {
			t.Errorf("%q: the user reads %q", name, said)
		}
	}
}
