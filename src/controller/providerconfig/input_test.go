package providerconfig_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
	"github.com/example/vmoperator/src/provider/registry"
)

// wired is a rig whose ProviderConfigs lead where they say.
func wired(t *testing.T, allowed ...string) *rig {
	t.Helper()
	r := newRig(t)
	policy, err := dial.ParsePolicy(allowed)
	must(t, err)
	r.connect, r.options.Dial = registry.Connect, policy
	r.start()
	return r
}

func at(endpoint string) func(*computev1.ProviderConfig) {
	return func(c *computev1.ProviderConfig) { c.Spec.Endpoint = endpoint }
}

// guarded is a provider that takes one key, and tells what it is in JSON.
func guarded(t *testing.T, key string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Bearer "+key {
			// A provider that says too much.
			http.Error(w, "not the key: "+request.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"identity": "blue", "capabilities": ["list"]}`))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func answering(t *testing.T, status int, contentType, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Location", "https://elsewhere.example.com/")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// unused is an address on loopback where nobody listens.
func unused(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, listener.Close())
	return "http://" + listener.Addr().String()
}

func TestBadInputShowsWhatToDo(t *testing.T) {
	t.Parallel()
	const loopback = "127.0.0.0/8"
	for name, test := range map[string]struct {
		allowed  string
		endpoint func(*testing.T) string
		secret   *corev1.Secret
		shows    string
		says     []string
	}{
		"a Secret that does not exist": {
			loopback, func(t *testing.T) string { t.Helper(); return guarded(t, marker) }, nil,
			showsStalled(computev1.ReasonSecretNotFound),
			[]string{`Secret "key"`, "create it"},
		},
		"a Secret without the key": {
			loopback, func(t *testing.T) string { t.Helper(); return guarded(t, marker) }, &corev1.Secret{Data: map[string][]byte{"token": []byte(marker)}},
			showsStalled(computev1.ReasonSecretInvalid),
			[]string{`key "apiKey" of Secret "key"`, "missing or empty"},
		},
		"a Secret whose key is white space": {
			loopback, func(t *testing.T) string { t.Helper(); return guarded(t, marker) }, &corev1.Secret{Data: map[string][]byte{"apiKey": []byte(" \n")}},
			showsStalled(computev1.ReasonSecretInvalid),
			[]string{"missing or empty"},
		},
		"a Secret whose key cannot be sent": {
			loopback, func(t *testing.T) string { t.Helper(); return guarded(t, marker) }, &corev1.Secret{Data: map[string][]byte{"apiKey": []byte(marker + "\n" + marker)}},
			showsStalled(computev1.ReasonSecretInvalid),
			[]string{"cannot carry"},
		},
		"a wrong key": {
			loopback, func(t *testing.T) string { t.Helper(); return guarded(t, "another") }, &corev1.Secret{Data: map[string][]byte{"apiKey": []byte(marker)}},
			showsStalled(computev1.ReasonUnauthorized),
			[]string{`key "apiKey" of Secret "key"`, "refuses"},
		},
		"an address that may not be dialled": {
			"", func(t *testing.T) string { t.Helper(); return guarded(t, marker) }, &corev1.Secret{Data: map[string][]byte{"apiKey": []byte(marker)}},
			showsStalled(computev1.ReasonEndpointRefused),
			[]string{"http://127.0.0.1", "--allow-endpoint-cidrs"},
		},
		"an endpoint where nobody listens": {
			loopback, unused, &corev1.Secret{Data: map[string][]byte{"apiKey": []byte(marker)}},
			showsRetried(computev1.ReasonUnreachable),
			[]string{"http://127.0.0.1", "check spec.endpoint"},
		},
		"a web page": {
			loopback, func(t *testing.T) string {
				t.Helper()
				return answering(t, http.StatusOK, "text/html", "<h1>"+marker+"</h1>")
			}, &corev1.Secret{Data: map[string][]byte{"apiKey": []byte(marker)}},
			showsRetried(computev1.ReasonProtocol),
			[]string{"not as a provider"},
		},
		"JSON that is cut off": {
			loopback, func(t *testing.T) string {
				t.Helper()
				return answering(t, http.StatusOK, "application/json", `{"identity": "`+marker)
			}, &corev1.Secret{Data: map[string][]byte{"apiKey": []byte(marker)}},
			showsRetried(computev1.ReasonProtocol),
			[]string{"not as a provider"},
		},
		"a redirect": {
			loopback, func(t *testing.T) string {
				t.Helper()
				return answering(t, http.StatusFound, "text/html", marker)
			}, &corev1.Secret{Data: map[string][]byte{"apiKey": []byte(marker)}},
			showsStalled(computev1.ReasonProtocol),
			[]string{"redirect"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wired(t, strings.Fields(test.allowed)...)
			if test.secret != nil {
				test.secret.Namespace, test.secret.Name = r.namespace, "key"
				must(t, kube.Create(t.Context(), test.secret))
			}
			r.config("aws", withSecret("key"), at(test.endpoint(t)))
			config := r.shown("aws", test.shows)
			entry := r.entered(registry.NotReady)
			ready := config.Status.Conditions[0]
			if entry.Reason != ready.Reason || entry.Message != ready.Message || entry.Client != nil {
				t.Errorf("the registry's entry is %+v, the condition %+v", entry, ready)
			}
			note := r.told(ready.Reason)
			for _, words := range test.says {
				if !strings.Contains(ready.Message, words) || !strings.Contains(note, words) {
					t.Errorf("neither condition nor event may lack %q:\n%s\n%s", words, ready.Message, note)
				}
			}
		})
	}
}

func TestWhatIsMendedBecomesReady(t *testing.T) {
	t.Parallel()
	r := wired(t, "127.0.0.0/8")
	r.config("aws", withSecret("key"), at(guarded(t, marker)))
	r.shown("aws", showsStalled(computev1.ReasonSecretNotFound))

	// No VirtualMachine needs the Secret, so it carries no label and cannot be
	// watched: what finds it is the next look.
	secret := r.secret("key", "another")
	r.clock.step(lookPatience)
	r.shown("aws", showsStalled(computev1.ReasonUnauthorized))

	r.vms("aws", 1)
	r.eventually("the label", func() string { return unless(r.marked("key"), "is missing") })
	edit(r, secret, func(s *corev1.Secret) { s.Data[computev1.APIKeyKey] = []byte(marker) })
	r.shown("aws", showsReady)
}

func TestAProviderOfTheMinimumIsReady(t *testing.T) {
	t.Parallel()
	r := wired(t, "127.0.0.0/8")
	r.config("aws", at(answering(t, http.StatusNotFound, "text/html", "<h1>Not Found</h1>")))
	config := r.shown("aws", showsReady)
	if config.Status.Identity != "" || len(config.Status.Capabilities) > 0 {
		t.Errorf("it tells %q, %q", config.Status.Identity, config.Status.Capabilities)
	}
}
