package gitops

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// actions are those of a kind, as Argo CD reads them.
type actions struct {
	Discovery   string `json:"discovery.lua"`
	Definitions []struct {
		Name string `json:"name"`
		Lua  string `json:"action.lua"`
	} `json:"definitions"`
}

func actionsOf(t *testing.T, object map[string]any) actions {
	t.Helper()
	text, err := setting(object, "actions")
	if err != nil {
		t.Fatal(err)
	}
	var all actions
	if err := yaml.UnmarshalStrict([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// annotated is an object with annotations; nil means without any.
func annotated(apiVersion, kind string, annotations map[string]any) map[string]any {
	metadata := map[string]any{"name": "it", "namespace": "vms"}
	if annotations != nil {
		metadata["annotations"] = annotations
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": map[string]any{"image": "ubuntu-24.04"}}
}

// pausable are the kinds that can be paused, with the annotation that does it.
var pausable = []struct{ apiVersion, kind, annotation string }{
	{"apps.example.io/v1", "AppAutoscaler", exampleappsv1.PausedAnnotation},
	{"apps.example.io/v1", "MyApp", exampleappsv1.PausedAnnotation},
	{"compute.example.com/v1", "VirtualMachine", computev1.PausedAnnotation},
}

func TestAnObjectThatRunsCanBePausedAndOneThatIsPausedResumed(t *testing.T) {
	for _, kind := range pausable {
		t.Run(kind.kind, func(t *testing.T) {
			for _, test := range []struct {
				annotations map[string]any
				paused      bool
			}{
				{nil, false},
				{map[string]any{"other": "x"}, false},
				{map[string]any{kind.annotation: "false"}, false},
				{map[string]any{kind.annotation: "true"}, true},
			} {
				object := annotated(kind.apiVersion, kind.kind, test.annotations)
				var got map[string]map[string]bool
				if err := runLua(t.Context(), actionsOf(t, object).Discovery, object, &got); err != nil {
					t.Fatal(err)
				}
				want := map[string]map[string]bool{"pause": {"disabled": test.paused}, "resume": {"disabled": !test.paused}}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%v:\n%s", test.annotations, diff)
				}
			}
		})
	}
}

func TestPauseAndResumeChangeTheAnnotationAndNothingElse(t *testing.T) {
	for _, kind := range pausable {
		for _, test := range []struct {
			action        string
			before, after map[string]any
		}{
			{"pause", nil, map[string]any{kind.annotation: "true"}},
			{"pause", map[string]any{"other": "x"}, map[string]any{"other": "x", kind.annotation: "true"}},
			{"resume", map[string]any{"other": "x", kind.annotation: "true"}, map[string]any{"other": "x"}},
		} {
			t.Run(kind.kind+" "+test.action, func(t *testing.T) {
				got := act(t, test.action, annotated(kind.apiVersion, kind.kind, test.before))
				if diff := cmp.Diff(annotated(kind.apiVersion, kind.kind, test.after), got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// act runs an action on an object.
func act(t *testing.T, name string, object map[string]any) map[string]any {
	t.Helper()
	for _, action := range actionsOf(t, object).Definitions {
		if action.Name != name {
			continue
		}
		var changed map[string]any
		if err := runLua(t.Context(), action.Lua, object, &changed); err != nil {
			t.Fatal(err)
		}
		return changed
	}
	t.Fatalf("there is no action %s", name)
	return nil
}

func TestAProviderConfigCannotBePausedForThatIsAboutItsOrphansAlone(t *testing.T) {
	if _, err := setting(annotated("compute.example.com/v1", "ProviderConfig", nil), "actions"); err == nil {
		t.Error("there are actions")
	}
}

func TestTheConfigMapAndTheValuesSayTheSame(t *testing.T) {
	configMap, err := settings()
	if err != nil {
		t.Fatal(err)
	}
	values, err := settingsOf("values.yaml", "configs", "cm")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(configMap, values); diff != "" {
		t.Errorf("ConfigMap (-), values (+):\n%s", diff)
	}
}
