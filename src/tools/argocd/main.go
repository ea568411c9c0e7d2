// Command argocd puts the Lua files of gitops/argocd into the settings of Argo CD:
// a ConfigMap to be applied, and values for Argo CD's own Helm chart.
//
//	argocd gitops/argocd
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: argocd DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "argocd:", err)
		os.Exit(1)
	}
}

const (
	configMap = "argocd-cm.yaml"
	values    = "values.yaml"
)

// write writes both forms of the settings beside the Lua files.
func write(dir string) error {
	settings, err := settings(dir)
	if err != nil {
		return err
	}
	applied := struct {
		APIVersion string            `yaml:"apiVersion"`
		Kind       string            `yaml:"kind"`
		Metadata   map[string]string `yaml:"metadata"`
		Data       map[string]string `yaml:"data"`
	}{"v1", "ConfigMap", map[string]string{"name": "argocd-cm", "namespace": "argocd"}, settings}
	chart := map[string]any{"configs": map[string]any{"cm": settings}}
	if err := writeYAML(filepath.Join(dir, configMap), "A patch of Argo CD's settings: kubectl patch configmap argocd-cm -n argocd --type=merge --patch-file=gitops/argocd/argocd-cm.yaml", applied); err != nil {
		return err
	}
	return writeYAML(filepath.Join(dir, values), "The same settings as argocd-cm.yaml, as values of Argo CD's own Helm chart.", chart)
}

// kinds are those that the health check is for, and whether they can be paused: that
// of a ProviderConfig would only stop the deletion of orphans.
var kinds = []struct {
	name   string
	paused bool
}{
	{"apps.example.io_AppAutoscaler", true},
	{"apps.example.io_MyApp", true},
	{"compute.example.com_ProviderConfig", false},
	{"compute.example.com_VirtualMachine", true},
}

// settings are the entries of argocd-cm.
func settings(dir string) (map[string]string, error) {
	object, err := os.ReadFile(filepath.Join(dir, "health", "object.lua"))
	if err != nil {
		return nil, fmt.Errorf("reading a health check: %w", err)
	}
	application, err := os.ReadFile(filepath.Join(dir, "health", "application.lua"))
	if err != nil {
		return nil, fmt.Errorf("reading a health check: %w", err)
	}
	actions, err := actions(filepath.Join(dir, "actions"))
	if err != nil {
		return nil, err
	}
	all := map[string]string{"resource.customizations.health.argoproj.io_Application": string(application)}
	for _, kind := range kinds {
		all["resource.customizations.health."+kind.name] = string(object)
		if kind.paused {
			all["resource.customizations.actions."+kind.name] = actions
		}
	}
	return all, nil
}

// definition is one action, as Argo CD reads it.
type definition struct {
	Name string `yaml:"name"`
	Lua  string `yaml:"action.lua"`
}

// actions is the text that Argo CD reads all actions of a kind from.
func actions(dir string) (string, error) {
	discovery, err := os.ReadFile(filepath.Join(dir, "discovery.lua"))
	if err != nil {
		return "", fmt.Errorf("reading which actions there are: %w", err)
	}
	all := struct {
		Discovery   string       `yaml:"discovery.lua"`
		Definitions []definition `yaml:"definitions"`
	}{Discovery: string(discovery)}
	for _, name := range []string{"pause", "resume"} {
		lua, err := os.ReadFile(filepath.Join(dir, name+".lua"))
		if err != nil {
			return "", fmt.Errorf("reading an action: %w", err)
		}
		all.Definitions = append(all.Definitions, definition{name, string(lua)})
	}
	text, err := encode(all)
	return string(text), err
}

func writeYAML(path, comment string, content any) error {
	text, err := encode(content)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	text = append([]byte("# "+comment+"\n# Generated from the Lua files by `make generate`: do not edit.\n"), text...)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("writing the settings: %w", err)
	}
	return nil
}

func encode(content any) ([]byte, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(content); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	if err := encoder.Close(); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return text.Bytes(), nil
}
