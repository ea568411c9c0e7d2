package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	credentials = "provider-credentials"
	// unboundQPS is the most that a ProviderConfig may allow: no call waits for its
	// turn.
	unboundQPS = 10000
)

// ground is a namespace with a ProviderConfig, and the provider that it leads to.
// Nobody else works there.
type ground struct {
	namespace string
	site      *site
	client    client.Client
}

// ground makes one. Settled VMs are looked at once in poll.
func (w *world) ground(ctx context.Context, namespace string, poll time.Duration, options siteOptions) (*ground, error) {
	if err := w.namespace(ctx, namespace); err != nil {
		return nil, err
	}
	key := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: credentials},
		StringData: map[string]string{computev1.APIKeyKey: "any"},
	}
	if err := w.client.Create(ctx, key); err != nil {
		return nil, fmt.Errorf("making the credentials: %w", err)
	}
	g := &ground{namespace: namespace, client: w.client}
	var err error
	if g.site, err = g.addProvider(ctx, w, computev1.DefaultProviderConfig, poll, options); err != nil {
		return nil, err
	}
	return g, nil
}

// addProvider starts a provider, and makes a ProviderConfig for it.
func (g *ground) addProvider(ctx context.Context, w *world, name string, poll time.Duration, options siteOptions) (*site, error) {
	s, err := w.startSite(ctx, g.namespace+"-"+name, options)
	if err != nil {
		return nil, err
	}
	config := &computev1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: name},
		Spec: computev1.ProviderConfigSpec{
			Endpoint: s.url, SecretRef: &computev1.SecretReference{Name: credentials},
			RateLimit:    &computev1.ProviderRateLimit{QPS: unboundQPS, Burst: unboundQPS},
			PollInterval: &metav1.Duration{Duration: poll},
		},
	}
	if err := g.client.Create(ctx, config); err != nil {
		return nil, errors.Join(fmt.Errorf("making the ProviderConfig: %w", err), s.stop())
	}
	return s, nil
}
