package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
)

// warmUp objects are made before all: what an apiserver does for the first time
// takes longer, and would count against whoever comes first.
const warmUp = 50

// bench measures everything, tells the figures as tables and writes them to a file.
// Counts that are not what they should be are an error.
func bench(ctx context.Context, p plan, stdout, stderr io.Writer) (err error) {
	logs := strings.TrimSuffix(p.out, filepath.Ext(p.out))
	w, err := startWorld(ctx, logs, stderr)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nlogs are in %s", err, logs)
		}
		err = errors.Join(err, w.stop())
	}()
	result := figures{Began: time.Now().UTC().Format(time.RFC3339), Failures: []string{}}
	if result.Machine, err = w.machine(); err != nil {
		return err
	}
	for _, s := range p.subjects {
		// What was measured before an error is worth as much as ever.
		if err = s.measure(ctx, w, p, &result); err != nil {
			break
		}
	}
	fmt.Fprint(stdout, tables(result))
	if err := errors.Join(err, writeJSON(p.out, result)); err != nil {
		return err
	}
	if len(result.Failures) > 0 {
		return fmt.Errorf("counts are not what they should be:\n%s", strings.Join(result.Failures, "\n"))
	}
	return nil
}

// warm lets bare clients make all writes that an operator may.
func (w *world) warm(ctx context.Context, kind string, workers int, phases ...phase) error {
	for _, p := range phases {
		all := counts{}
		for _, write := range p.writes {
			all[write.call] = warmUp * write.most
		}
		_, err := w.time(ctx, fmt.Sprintf("%s, warm-up, %s", kind, p.name), p, warmUp, func() error { return nil }, func(ctx context.Context) error {
			return floor(ctx, p, warmUp, workers, all)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) machine() (machine, error) {
	m := machine{Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
	asked, err := discovery.NewDiscoveryClientForConfig(w.plane.Config)
	if err != nil {
		return m, fmt.Errorf("asking for the apiserver's version: %w", err)
	}
	version, err := asked.ServerVersion()
	if err != nil {
		return m, fmt.Errorf("asking for the apiserver's version: %w", err)
	}
	m.Kubernetes = version.GitVersion
	return m, nil
}

func writeJSON(path string, result figures) error {
	text, err := marshal(result)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return nil
}
