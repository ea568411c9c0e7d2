package providerconfig_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/registry"
)

func TestAClientIsBuiltFromTheSpec(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var mu sync.Mutex
	var built []registry.ConnectOptions
	r.connect = func(options registry.ConnectOptions) (provider.Client, func(), error) {
		mu.Lock()
		defer mu.Unlock()
		options.APIKey = ""
		built = append(built, options)
		return r.connectToFake(options)
	}
	r.options.DefaultQPS, r.options.DefaultBurst, r.options.UserAgent = 10, 20, "vmoperator/test"
	r.start()
	config := r.config("aws")
	r.shown("aws", showsReady)
	edit(r, config, func(c *computev1.ProviderConfig) {
		c.Spec.Timeout = &metav1.Duration{Duration: 3 * time.Second}
		c.Spec.RateLimit = &computev1.ProviderRateLimit{QPS: 7}
	})
	r.shown("aws", showsReady)
	// How often VMs are looked at is nothing that a client knows.
	edit(r, config, func(c *computev1.ProviderConfig) { c.Spec.PollInterval = &metav1.Duration{Duration: time.Hour} })
	r.shown("aws", showsReady)

	mu.Lock()
	defer mu.Unlock()
	name := r.key("aws").String()
	want := []registry.ConnectOptions{
		{Endpoint: endpoint, Timeout: 10 * time.Second, QPS: 10, Burst: 20, UserAgent: "vmoperator/test", Provider: name},
		{Endpoint: endpoint, Timeout: 3 * time.Second, QPS: 7, Burst: 7, UserAgent: "vmoperator/test", Provider: name},
	}
	if diff := cmp.Diff(want, built, cmpopts.IgnoreFields(registry.ConnectOptions{}, "Dial", "Circuit")); diff != "" {
		t.Errorf("clients (-want +got):\n%s", diff)
	}
	if entry := r.reg.Get(r.key("aws")); entry.PollInterval != time.Hour || entry.Timeout != 3*time.Second {
		t.Errorf("the registry says every %s, within %s", entry.PollInterval, entry.Timeout)
	}
}

func TestAnEndpointIsVerifiedAgainstItsOwnCA(t *testing.T) {
	t.Parallel()
	r := wired(t, "127.0.0.0/8")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"identity": "blue"}`))
	}))
	t.Cleanup(server.Close)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "ca"},
		Data:       map[string][]byte{computev1.CACertificateKey: []byte("no certificate")},
	}
	must(t, kube.Create(t.Context(), secret))
	r.config("aws", at(server.URL))
	r.vms("aws", 1)
	r.shown("aws", showsRetried(computev1.ReasonUnreachable))

	edit(r, r.read("aws"), func(c *computev1.ProviderConfig) {
		c.Spec.TLS = &computev1.ProviderTLS{CASecretRef: &computev1.SecretReference{Name: "ca"}}
	})
	r.shown("aws", showsStalled(computev1.ReasonSecretInvalid))
	r.marks("ca", true)
	edit(r, secret, func(s *corev1.Secret) {
		s.Data[computev1.CACertificateKey] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	})
	r.shown("aws", showsReady)
}

func TestAProviderThatThrottlesItsFirstProbeIsBeingTried(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).Inject(fake.Fault{Op: provider.OperationCapabilities, Class: provider.Throttled, RetryAfter: time.Hour})
	r.config("aws")
	r.eventually("conditions", func() string {
		got := shows(r.read("aws"))
		return unless(got == "Ready=Unknown/Probing Reconciling/Probing", "it shows "+got)
	})
	r.poll()
	r.shown("aws", showsReady)
}

func TestAnAnswerThatNoStatusCanHoldStalls(t *testing.T) {
	t.Parallel()
	r := started(t)
	r.provider(endpoint).SetCapabilities(provider.Capabilities{Identity: string(make([]byte, 300))})
	r.config("aws")
	r.shown("aws", showsStalled(computev1.ReasonProtocol))
}
