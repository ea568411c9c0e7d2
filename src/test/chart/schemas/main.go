// Command schemas writes a JSON schema of each kind that Kubernetes, and the given
// CRDs, define: kubeconform checks objects against them, and otherwise downloads
// those that somebody else made.
//
//	schemas -swagger swagger.json -out dir crd.yaml...
//
// The schema of a kind has the name that kubeconform looks for: its kind, the first
// word of its group, and its version. It is strict: a field that the kind does not
// have is an error.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	swagger := flag.String("swagger", "", "Kubernetes' OpenAPI v2 document")
	out := flag.String("out", "", "folder to write the schemas to")
	flag.Parse()
	if err := write(*swagger, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// write writes all schemas to a folder.
func write(swagger, out string, crds []string) error {
	if swagger == "" || out == "" {
		return errors.New("-swagger and -out are needed")
	}
	schemas, err := builtIn(swagger)
	if err != nil {
		return err
	}
	for _, path := range crds {
		custom, err := custom(path)
		if err != nil {
			return err
		}
		schemas = append(schemas, custom...)
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return fmt.Errorf("making the folder of the schemas: %w", err)
	}
	for _, s := range schemas {
		if err := s.write(out); err != nil {
			return err
		}
	}
	return nil
}

// schema is the JSON schema of one kind.
type schema struct {
	group, version, kind string
	content              map[string]any
}

// file is the name that kubeconform makes with {{.ResourceKind}}{{.KindSuffix}}; the
// core group has no word in it.
func (s schema) file() string {
	group, _, _ := strings.Cut(s.group, ".")
	words := []string{s.kind, group, s.version}
	if group == "" {
		words = []string{s.kind, s.version}
	}
	return strings.ToLower(strings.Join(words, "-")) + ".json"
}

func (s schema) write(dir string) error {
	content, err := json.Marshal(s.content)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, s.file()), content, 0o600); err != nil {
		return fmt.Errorf("writing a schema: %w", err)
	}
	return nil
}
