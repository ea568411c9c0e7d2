// Command crdcompat fails when the CustomResourceDefinitions in a folder would refuse objects, or lose fields of objects,
// that those of an earlier git revision accept.
//
//	crdcompat [-base REVISION] FOLDER
//
// Without -base it compares with where the branch left origin/main, or else with the commit before.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	base := flag.String("base", "", "the git revision to compare with")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: crdcompat [-base REVISION] FOLDER")
		os.Exit(2)
	}
	if err := run(context.Background(), *base, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "crdcompat:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, base, dir string) error {
	if base == "" {
		base = defaultBase(ctx)
	}
	if base == "" {
		fmt.Println("crdcompat: no earlier revision to compare with")
		return nil
	}
	older, err := atRevision(ctx, base, dir)
	if err != nil {
		return err
	}
	newer, err := inFolder(dir)
	if err != nil {
		return err
	}
	breaches := 0
	for _, finding := range Compare(older, newer) {
		fmt.Println(finding)
		if !finding.Warning {
			breaches++
		}
	}
	if breaches > 0 {
		return fmt.Errorf("%d changes since %s break objects that exist", breaches, base)
	}
	fmt.Printf("crdcompat: %d CRDs accept all that they accepted at %s\n", len(older), base)
	return nil
}

// defaultBase returns no revision where there is none: in the first commit, and in a shallow clone.
func defaultBase(ctx context.Context) string {
	head, err := git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	// On the main branch itself the merge base is HEAD, which would be compared with itself.
	if base, err := git(ctx, "merge-base", "HEAD", "origin/main"); err == nil && base != head {
		return base
	}
	parent, err := git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^")
	if err != nil {
		return ""
	}
	return parent
}

func atRevision(ctx context.Context, revision, dir string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	names, err := git(ctx, "ls-tree", "--name-only", revision, "--", filepath.Clean(dir)+"/")
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for name := range strings.FieldsSeq(names) {
		if !isManifest(name) {
			continue
		}
		text, err := git(ctx, "show", revision+":./"+name)
		if err != nil {
			return nil, err
		}
		crd, err := parse(revision+":"+name, []byte(text))
		if err != nil {
			return nil, err
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

func inFolder(dir string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, entry := range entries {
		if !isManifest(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		crd, err := parse(path, text)
		if err != nil {
			return nil, err
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

func isManifest(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

func parse(name string, text []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return crd, nil
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
