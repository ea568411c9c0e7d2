package gitops

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
	"sigs.k8s.io/yaml"
)

// settings are the entries of the ConfigMap that users apply.
var settings = sync.OnceValues(func() (map[string]string, error) {
	return settingsOf("argocd-cm.yaml", "data")
})

// settingsOf reads the settings from below some keys of a file.
func settingsOf(file string, keys ...string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "gitops", "argocd", file))
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	var content map[string]any
	if err := yaml.UnmarshalStrict(text, &content); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	entries, _, err := unstructured.NestedStringMap(content, keys...)
	return entries, err
}

// setting is the entry for a kind, as in health.compute.example.com_VirtualMachine.
func setting(object map[string]any, what string) (string, error) {
	all, err := settings()
	if err != nil {
		return "", err
	}
	kind := (&unstructured.Unstructured{Object: object}).GroupVersionKind()
	key := "resource.customizations." + what + "." + kind.Group + "_" + kind.Kind
	if all[key] == "" {
		return "", fmt.Errorf("there is no %s", key)
	}
	return all[key], nil
}

// runLua runs a script on an object as util/lua of Argo CD does: with these
// libraries alone, and one second at most, which is longer here, where the machine
// may be busy. What it returns is decoded into out.
func runLua(ctx context.Context, script string, object map[string]any, out any) error {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		open := lua.P{Fn: state.NewFunction(library.open), NRet: 0, Protect: true}
		if err := state.CallByParam(open, lua.LString(library.name)); err != nil {
			return fmt.Errorf("opening %s: %w", library.name, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", valueOf(state, object))
	if err := state.DoString(script); err != nil {
		return fmt.Errorf("running Lua: %w", err)
	}
	text, err := luajson.Encode(state.Get(-1))
	if err != nil {
		return fmt.Errorf("encoding what Lua returned: %w", err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("what Lua returned: %w", err)
	}
	return nil
}

// valueOf is a value as Lua sees it.
func valueOf(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for key, each := range value {
			table.RawSetString(key, valueOf(state, each))
		}
		return table
	case []any:
		table := state.CreateTable(len(value), 0)
		for _, each := range value {
			table.Append(valueOf(state, each))
		}
		return table
	case int64:
		return lua.LNumber(value)
	default:
		return luajson.DecodeValue(state, value)
	}
}

// health is what a health check says of an object.
type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// The words that Argo CD knows; Suspended and Unknown are never said.
const (
	healthy     = "Healthy"
	progressing = "Progressing"
	degraded    = "Degraded"
)

func healthOf(t *testing.T, object map[string]any) health {
	t.Helper()
	script, err := setting(object, "health")
	if err != nil {
		t.Fatal(err)
	}
	var result health
	if err := runLua(t.Context(), script, object, &result); err != nil {
		t.Fatal(err)
	}
	return result
}
