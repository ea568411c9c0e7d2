package providerconfig

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/crdschema"
)

// FuzzCredentials reads what users put into Secrets. What is taken for usable
// makes a client; what is not, is blamed without being shown.
func FuzzCredentials(f *testing.F) {
	for _, seed := range []struct{ key, certificates string }{
		{"a-very-long-secret-key", ""},
		{" a-very-long-secret-key\r\n", "x"},
		{"two words", ""},
		{"", ""},
		{" \t\n", ""},
		{"\ufeffkey", ""},
		{"key\x00", ""},
		{"schlüssel", ""},
		{"\u00a0key\u2028", ""},
		{"\xff", ""},
		{strings.Repeat("k", 4000), ""},
		{"key", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"},
		{"~!", "-----BEGIN CERTIFICATE-----"},
	} {
		f.Add([]byte(seed.key), []byte(seed.certificates))
	}
	f.Fuzz(func(t *testing.T, key, certificates []byte) {
		config := builders.ProviderConfig("team", "default", "https://vms.example.com", func(config *computev1.ProviderConfig) {
			config.Spec.SecretRef = &computev1.SecretReference{Name: "credentials"}
			if len(certificates) > 0 {
				config.Spec.TLS = &computev1.ProviderTLS{CASecretRef: &computev1.SecretReference{Name: "credentials"}}
			}
		})
		read := credentials{verdict: decide.CredentialsUsable}
		read.take(config, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "credentials"},
			Data:       map[string][]byte{computev1.APIKeyKey: key, computev1.CACertificateKey: certificates},
		})
		_, err := httpapi.New(httpapi.Options{Endpoint: config.Spec.Endpoint, APIKey: read.apiKey, CACertificates: read.caCertificates})
		switch {
		case read.verdict == decide.CredentialsUsable && (err != nil || read.apiKey == ""):
			t.Errorf("%q is taken for usable: %v", key, err)
		case read.verdict == decide.CredentialsUsable && strings.TrimSpace(string(key)) != string(read.apiKey):
			t.Errorf("%q is sent as another key", key)
		case read.verdict != decide.CredentialsUsable && read.problem == "":
			t.Errorf("nobody says what is wrong with %q", key)
		}
		secret := strings.TrimSpace(string(key))
		if said := secretMessage(&pass{config: config, credentials: read}); len(secret) > 12 && strings.Contains(said, secret) {
			t.Errorf("%q shows the key", said)
		}
	})
}

// FuzzConditions makes every condition that a ProviderConfig can have of what its
// provider and its user say. The apiserver must take status and events.
func FuzzConditions(f *testing.F) {
	schema, err := crdschema.Load(crdschema.ProviderConfigs)
	if err != nil {
		f.Fatal(err)
	}
	reasons := []string{
		computev1.ReasonProbed, computev1.ReasonProbing, computev1.ReasonSecretNotFound, computev1.ReasonSecretInvalid,
		computev1.ReasonEndpointInvalid, computev1.ReasonEndpointRefused, computev1.ReasonUnreachable, computev1.ReasonUnauthorized,
		computev1.ReasonProtocol, computev1.ReasonInUse, computev1.ReasonEndpointChanged, computev1.ReasonIdentityChanged,
		computev1.ReasonCapabilitiesShrunk, computev1.ReasonMassDisappearance,
	}
	for number := range reasons {
		f.Add(number, "http://"+strings.Repeat("h", 2000), strings.Repeat("😀", 253), strings.Repeat("ä", 253), "list,resize,idempotency,owner")
	}
	f.Add(11, "http://[::1%25\u05d0]/\u202e", `"`, `\`, "")
	f.Add(11, "http://e\u0301", " ", "", strings.Repeat("c", 64))
	f.Fuzz(func(t *testing.T, number int, endpoint, was, is, lost string) {
		config := builders.ProviderConfig("team", "default", endpoint)
		config.Status = computev1.ProviderConfigStatus{Endpoint: endpoint, Identity: was}
		if lost != "" {
			config.Status.Capabilities = strings.Split(lost, ",")
		}
		// What the schema or the decoder does not let in cannot come out.
		if schema.Validate(config) != nil || utf8.RuneCountInString(is) > 253 || !utf8.ValidString(endpoint+was+is) {
			return
		}
		reason := reasons[max(number, 0)%len(reasons)]
		p := &pass{
			config: config, status: *config.Status.DeepCopy(), now: time.Unix(0, 0),
			memory: &memory{capabilities: provider.Capabilities{Identity: is}},
		}
		next := nextStatus(p, decide.State{}, decide.Decision{Action: decide.Stall, Reason: reason})
		next.FormerIdentities = formerIdentities(next, is, true)
		changed := config.DeepCopy()
		changed.Status = next
		if err := schema.Validate(changed); err != nil {
			t.Errorf("%s: the apiserver refuses the status: %v", reason, err)
		}
		for _, h := range happenings(p, config.Status, next) {
			if note := noteOf(h); len(note) > maxNote || !utf8.ValidString(note) || note == "" {
				t.Errorf("%s: the apiserver refuses the note %q", h.reason, note)
			}
		}
	})
}
