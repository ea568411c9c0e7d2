package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	operatorBinary = "bin/vmoperator"
	// readyTimeout is generous, for a machine may build something else meanwhile.
	readyTimeout = 2 * time.Minute
	// graceTimeout is longer than the operator takes to end in order.
	graceTimeout = 40 * time.Second
	lookInterval = 10 * time.Millisecond
)

// operator is the operator as it is shipped, a process of its own.
type operator struct {
	process *exec.Cmd
	ended   chan struct{}
	// metrics is where it serves them.
	metrics string
	// log is the path of its log.
	log string
}

// startOperator returns when the operator is ready to work in a namespace. All but
// the resync is as it is by default.
func (w *world) startOperator(ctx context.Context, namespace string, resync time.Duration) (*operator, error) {
	output, err := w.output(namespace + ".log")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(w.dir, "kubeconfig")
	if err := writeKubeconfig(w.operator, kubeconfig); err != nil {
		return nil, err
	}
	health, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	o := &operator{ended: make(chan struct{}), metrics: metrics, log: output.Name()}
	//nolint:noctx // It is stopped with patience, also when ctx has ended.
	o.process = exec.Command(operatorBinary,
		"--kubeconfig="+kubeconfig, "--watch-namespaces="+namespace, "--resync-interval="+resync.String(),
		"--health-probe-bind-address="+health, "--metrics-bind-address="+metrics,
	)
	o.process.Stdout, o.process.Stderr, o.process.SysProcAttr = output, output, diesWithParent()
	if err := o.process.Start(); err != nil {
		return nil, fmt.Errorf("starting the operator (make build makes it): %w", err)
	}
	go func() {
		_ = o.process.Wait() // ProcessState tells
		close(o.ended)
	}()
	if err := o.waitUntilReady(ctx, "http://"+health+"/readyz"); err != nil {
		return nil, errors.Join(err, o.stop())
	}
	return o, nil
}

func (o *operator) waitUntilReady(ctx context.Context, url string) error {
	err := wait.PollUntilContextTimeout(ctx, lookInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		if err := o.alive(); err != nil {
			return false, err
		}
		response, err := get(ctx, url)
		if err != nil {
			// It does not listen yet.
			return false, nil //nolint:nilerr // the end of the time tells enough
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to be ready: %w", err)
	}
	return nil
}

// alive is an error when the operator has ended, which nobody asked it to.
func (o *operator) alive() error {
	select {
	case <-o.ended:
		return fmt.Errorf("the operator has ended with %s: see %s", o.process.ProcessState, o.log)
	default:
		return nil
	}
}

// stop ends the operator, politely at first. It may be called more than once.
func (o *operator) stop() error {
	if err := o.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the operator: %w", err)
	}
	select {
	case <-o.ended:
		return nil
	case <-time.After(graceTimeout):
	}
	if err := o.process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing the operator: %w", err)
	}
	<-o.ended
	return nil
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
		return fmt.Errorf("writing the operator's kubeconfig: %w", err)
	}
	return nil
}

// freeAddress is one on loopback that nobody listens on now.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}
