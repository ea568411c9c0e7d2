package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

const (
	upDir = "out/demo/up"
	// usualPort is where the samples look for a provider.
	usualPort = 8080
)

// serve starts a world with the samples in it, and stops it when ctx ends.
func serve(ctx context.Context, screen *screen) (err error) {
	lock, err := acquire(upDir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := removeState(upDir); err != nil {
		return err
	}
	w, err := startWorld(ctx, screen, plan{dir: upDir, providerPort: usualPort})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeState(upDir), w.stop()) }()
	if err := w.applySamples(ctx, map[string]string{"endpoint": w.provider.URL()}); err != nil {
		return err
	}
	for _, sample := range []string{autoscalerSample, myAppSample} {
		if err := w.kubectl.show(ctx, "apply", "-f", sample); err != nil {
			return err
		}
	}
	state, err := w.state()
	if err != nil {
		return err
	}
	if err := state.write(upDir); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-w.operator.ended:
		screen.say("the operator has ended; all else runs on until make down")
		<-ctx.Done()
	}
	return nil
}

func (w *world) state() (*state, error) {
	kubeconfig, err := filepath.Abs(w.kubectl.kubeconfig)
	if err != nil {
		return nil, err
	}
	return &state{
		PID:         os.Getpid(),
		OperatorPID: w.operator.process.Process.Pid,
		Kubeconfig:  kubeconfig,
		Kubectl:     w.kubectl.path,
		Provider:    w.provider.URL(),
		Metrics:     "http://" + w.operator.metrics + "/metrics",
	}, nil
}
