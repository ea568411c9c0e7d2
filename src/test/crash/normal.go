package crash

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

// End is a stable state: objects by kind and name, and VMs, without what differs
// from run to run.
type End map[string]any

// Normalise makes states of two runs comparable: names that the apiserver or the
// provider gave become symbols, times and versions are left out. Objects that wait
// for garbage collection are left out too. Given are further names of the run's own
// by their symbols, such as the namespace.
func Normalise(given map[string]string, objects []unstructured.Unstructured, live []provider.Machine) End {
	n := normaliser{uids: map[string]string{}}
	for i := range objects {
		n.uids[string(objects[i].GetUID())] = objects[i].GetKind() + "/" + objects[i].GetName()
	}
	n.symbols = n.replacer(given, live)
	end := End{}
	for i := range objects {
		if n.orphaned(&objects[i]) {
			continue
		}
		end[n.uids[string(objects[i].GetUID())]] = n.object(&objects[i])
	}
	for i, machine := range live {
		end[fmt.Sprintf("VM %d of %s", i+1, machine.Name)] = n.value("", map[string]any{
			"image": machine.Image, "cpu": int64(machine.CPU), "memory": machine.Memory, "phase": string(machine.Phase),
			"labels": labels(machine),
		})
	}
	return end
}

type normaliser struct {
	// uids maps an object's to its kind and name.
	uids    map[string]string
	symbols *strings.Replacer
}

func (n *normaliser) replacer(given map[string]string, live []provider.Machine) *strings.Replacer {
	var pairs []string
	for symbol, name := range given {
		pairs = append(pairs, name, symbol)
	}
	for uid, name := range n.uids {
		pairs = append(pairs, uid, "<uid of "+name+">")
	}
	for _, machine := range live {
		pairs = append(pairs, machine.ID, "<VM of "+machine.Name+">")
		for i, address := range machine.Addresses {
			pairs = append(pairs, address, fmt.Sprintf("<address %d of %s>", i+1, machine.Name))
		}
	}
	return strings.NewReplacer(pairs...)
}

// orphaned reports whether an object's owner is gone.
func (n *normaliser) orphaned(object *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && n.uids[string(owner.UID)] == ""
}

func (n *normaliser) object(object *unstructured.Unstructured) any {
	content := object.DeepCopy()
	generation := content.GetGeneration()
	metadata := map[string]any{}
	if content.GetDeletionTimestamp() != nil {
		metadata["deleting"] = true
	}
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if value, found, err := unstructured.NestedFieldNoCopy(content.Object, "metadata", field); found && err == nil {
			metadata[field] = value
		}
	}
	content.Object["metadata"] = metadata
	for _, field := range []string{"clusterIP", "clusterIPs"} {
		unstructured.RemoveNestedField(content.Object, "spec", field)
	}
	if content.GetKind() == "Secret" {
		decode(content.Object["data"])
	}
	currentGeneration(content.Object, generation)
	return n.value("", content.Object)
}

// left is what a run leaves out: when something happened, or how often.
var left = []string{"lastTransitionTime", "attemptedAt", "releasedAt", "replaces"}

// value is a copy of a value with symbols for names.
func (n *normaliser) value(field string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		normal := map[string]any{}
		for name, member := range value {
			if !slices.Contains(left, name) {
				normal[n.text(name)] = n.value(name, member)
			}
		}
		return normal
	case []any:
		normal := make([]any, 0, len(value))
		for _, member := range value {
			normal = append(normal, n.value("", member))
		}
		if field == "conditions" {
			slices.SortFunc(normal, byType)
		}
		return normal
	case string:
		if field == computev1.CreateIntentAnnotation {
			return n.intent(value)
		}
		return n.text(value)
	default:
		return value
	}
}

// keyOrdinal is the end of a create key: how often a VM had to be made is history.
var keyOrdinal = regexp.MustCompile(`(<uid of VirtualMachine/[^>]+>)/\d+`)

func (n *normaliser) text(text string) string {
	return keyOrdinal.ReplaceAllString(n.symbols.Replace(text), "$1/n")
}

func (n *normaliser) intent(text string) any {
	var record map[string]any
	if json.Unmarshal([]byte(text), &record) != nil {
		return text
	}
	return n.value("", record)
}

func byType(one, other any) int { return strings.Compare(typeOf(one), typeOf(other)) }

func typeOf(condition any) string {
	fields, _ := condition.(map[string]any)
	name, _ := fields["type"].(string)
	return name
}

// currentGeneration replaces each observedGeneration by whether it is the
// object's own.
func currentGeneration(value any, generation int64) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if name == "observedGeneration" {
				value[name] = member == generation
				continue
			}
			currentGeneration(member, generation)
		}
	case []any:
		for _, member := range value {
			currentGeneration(member, generation)
		}
	}
}

func decode(data any) {
	fields, _ := data.(map[string]any)
	for name, value := range fields {
		encoded, _ := value.(string)
		if text, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			fields[name] = string(text)
		}
	}
}

func labels(machine provider.Machine) map[string]any {
	all := map[string]any{}
	for name, value := range machine.Labels {
		all[name] = value
	}
	return all
}
