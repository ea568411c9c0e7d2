package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// state is what -up leaves for those who come after. It exists only while
// everything runs, or when all was killed.
type state struct {
	// PID is the process that everything ends with.
	PID int `json:"pid"`
	// OperatorPID is the operator's.
	OperatorPID int `json:"operatorPid"`
	// Kubeconfig and Kubectl are absolute paths.
	Kubeconfig string `json:"kubeconfig"`
	Kubectl    string `json:"kubectl"`
	// Provider is the mock provider's URL.
	Provider string `json:"provider"`
	// Metrics is the URL of the operator's metrics.
	Metrics string `json:"metrics"`
}

// write replaces the state at once, for others may read it at any moment.
func (s *state) write(dir string) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	next := statePath(dir) + ".next"
	if err := os.WriteFile(next, append(content, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(next, statePath(dir))
}

// readState returns os.ErrNotExist where nothing is up yet.
func readState(dir string) (*state, error) {
	content, err := os.ReadFile(statePath(dir))
	if err != nil {
		return nil, err
	}
	s := &state{}
	if err := json.Unmarshal(content, s); err != nil {
		return nil, fmt.Errorf("%s: %w", statePath(dir), err)
	}
	return s, nil
}

func removeState(dir string) error {
	if err := os.Remove(statePath(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func statePath(dir string) string { return filepath.Join(dir, "state.json") }
