package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contender is an operator that is measured.
type contender struct {
	// name is what the report calls it.
	name string
	// user is who it is to the apiserver: its requests are told from all others by
	// that.
	user string
	// command starts it in a place.
	command func(at place) *exec.Cmd
	// probes: it serves /readyz at the place's health address. One that does not is
	// ready once it watches its objects.
	probes bool
	// counts: it serves its metrics, controller-runtime's among them, at the place's
	// metrics address.
	counts bool
	// children: it makes the Secret and the Service of a VirtualMachine.
	children bool
	// rounds is how many poll intervals its steady state is watched; 0 for not at all.
	rounds int
}

// place is where a contender works.
type place struct {
	namespace string
	// provider is the provider's URL, where there is one.
	provider string
	// kubeconfig is the path of a file with the contender's rights.
	kubeconfig string
	// health and metrics are addresses on loopback that are free.
	health, metrics string
}

// operator is a contender at work.
type operator struct {
	*process

	contender *contender
	// metrics is where it serves them; empty if it does not.
	metrics string
}

// launch returns when the contender is ready to work in a namespace. Its log goes to
// a file of the given name.
func (w *world) launch(ctx context.Context, c *contender, namespace, providerURL, logName string) (*operator, error) {
	at, err := w.place(ctx, c, namespace, providerURL)
	if err != nil {
		return nil, err
	}
	before, err := w.audit.of(c.user)
	if err != nil {
		return nil, err
	}
	started, err := w.start(c.name, logName, c.command(at))
	if err != nil {
		return nil, err
	}
	o := &operator{process: started, contender: c}
	if c.counts {
		o.metrics = at.metrics
	}
	ready := func(context.Context) (bool, error) {
		now, err := w.audit.of(c.user)
		return now.watches > before.watches, err
	}
	if c.probes {
		ready = func(ctx context.Context) (bool, error) { return answers(ctx, "http://"+at.health+"/readyz"), nil }
	}
	if err := o.await(ctx, ready); err != nil {
		return nil, errors.Join(err, o.stop())
	}
	return o, nil
}

func (w *world) place(ctx context.Context, c *contender, namespace, providerURL string) (at place, err error) {
	at = place{namespace: namespace, provider: providerURL, kubeconfig: filepath.Join(w.dir, "kubeconfig-"+c.user)}
	if at.health, err = freeAddress(ctx); err != nil {
		return at, err
	}
	if at.metrics, err = freeAddress(ctx); err != nil {
		return at, err
	}
	config, known := w.users[c.user]
	if !known {
		// All rights, for rights are not what is measured.
		if config, err = w.plane.AddUser(c.user, "system:masters"); err != nil {
			return at, fmt.Errorf("making the user %s: %w", c.user, err)
		}
		w.users[c.user] = config
	}
	return at, writeKubeconfig(config, at.kubeconfig)
}

// writeKubeconfig writes a file that gives its reader the rights of config, by its
// client certificate.
func writeKubeconfig(config *rest.Config, path string) error {
	const name = "bench"
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
	if err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}
