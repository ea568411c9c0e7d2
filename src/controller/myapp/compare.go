package myapp

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example/vmoperator/src/controller/fieldmanager"
)

// difference is one thing of an object that is not as declared.
type difference struct {
	// what names it to people. It holds no value that could be a secret.
	what string
	// path is where it is, for who has set it.
	path fieldpath.Path
}

// deploymentDifferences compares a Deployment with what it should be. What others
// add outside of containers stays: labels, annotations, volumes, where Pods run.
func deploymentDifferences(live, wanted *appsv1.Deployment) ([]difference, error) {
	all := labelDifferences(live.Labels, wanted.Labels, "metadata", "labels")
	if wanted.Spec.Replicas != nil && *live.Spec.Replicas != *wanted.Spec.Replicas {
		all = append(all, difference{fmt.Sprintf("replicas %d -> %d", *live.Spec.Replicas, *wanted.Spec.Replicas), fieldmanager.Replicas()})
	}
	all = append(all, labelDifferences(live.Spec.Template.Labels, wanted.Spec.Template.Labels, "spec", "template", "metadata", "labels")...)
	have, want := live.Spec.Template.Spec, wanted.Spec.Template.Spec
	if !equality.Semantic.DeepEqual(have.AutomountServiceAccountToken, want.AutomountServiceAccountToken) {
		all = append(all, difference{"automountServiceAccountToken", inPod("automountServiceAccountToken")})
	}
	for _, volume := range want.Volumes {
		i := slices.IndexFunc(have.Volumes, func(v corev1.Volume) bool { return v.Name == volume.Name })
		if i < 0 || !equality.Semantic.DeepEqual(have.Volumes[i], volume) {
			all = append(all, difference{"volume " + volume.Name, inPod("volumes", fieldpath.KeyByFields("name", volume.Name))})
		}
	}
	containers, err := containerDifferences(have, want)
	return append(all, containers...), err
}

func labelDifferences(have, want map[string]string, at ...any) []difference {
	var all []difference
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, present := have[key]; !present || value != want[key] {
			all = append(all, difference{"label " + key, fieldpath.MakePathOrDie(append(slices.Clone(at), key)...)})
		}
	}
	return all
}

// inPod is a path within the Pod's spec.
func inPod(field ...any) fieldpath.Path {
	return fieldpath.MakePathOrDie(append([]any{"spec", "template", "spec"}, field...)...)
}

// containerDifferences compares containers as wholes: what is not wanted is a
// difference as well.
func containerDifferences(have, want corev1.PodSpec) ([]difference, error) {
	var all []difference
	for i := range have.InitContainers {
		name := have.InitContainers[i].Name
		all = append(all, difference{"init container " + name, inPod("initContainers", fieldpath.KeyByFields("name", name))})
	}
	for i := range have.Containers {
		name := have.Containers[i].Name
		if !slices.ContainsFunc(want.Containers, func(c corev1.Container) bool { return c.Name == name }) {
			all = append(all, difference{"container " + name, fieldmanager.Container(name)})
		}
	}
	for i := range want.Containers {
		container := &want.Containers[i]
		j := slices.IndexFunc(have.Containers, func(c corev1.Container) bool { return c.Name == container.Name })
		if j < 0 {
			all = append(all, difference{"container " + container.Name, fieldmanager.Container(container.Name)})
			continue
		}
		fields, err := fieldDifferences(&have.Containers[j], container)
		if err != nil {
			return nil, err
		}
		all = append(all, fields...)
	}
	return all, nil
}

// fieldDifferences compares two containers field by field.
func fieldDifferences(have, want *corev1.Container) ([]difference, error) {
	if have.Image != want.Image {
		rest, err := fieldDifferences(withImage(have, want), want)
		what := fmt.Sprintf("image %s -> %s", have.Image, want.Image)
		return append([]difference{{what, fieldmanager.Container(want.Name, "image")}}, rest...), err
	}
	haveFields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(have)
	if err != nil {
		return nil, fmt.Errorf("comparing the container: %w", err)
	}
	wantFields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return nil, fmt.Errorf("comparing the container: %w", err)
	}
	return fieldsOf(want.Name, haveFields, wantFields), nil
}

// withImage is a container that has the other's image already, and the pull policy
// that goes with it where it had its own.
func withImage(have, want *corev1.Container) *corev1.Container {
	other := *have
	if have.ImagePullPolicy == pullPolicy(have.Image) {
		other.ImagePullPolicy = want.ImagePullPolicy
	}
	other.Image = want.Image
	return &other
}

func fieldsOf(container string, have, want map[string]any) []difference {
	var all []difference
	both := maps.Clone(have)
	maps.Copy(both, want)
	for _, field := range slices.Sorted(maps.Keys(both)) {
		if equality.Semantic.DeepEqual(have[field], want[field]) {
			continue
		}
		if field == "resources" {
			all = append(all, resourceDifferences(container, have[field], want[field])...)
			continue
		}
		all = append(all, difference{field + " of the container", fieldmanager.Container(container, field)})
	}
	return all
}

func resourceDifferences(container string, have, want any) []difference {
	haveKinds, _ := have.(map[string]any)
	wantKinds, _ := want.(map[string]any)
	both := maps.Clone(haveKinds)
	if both == nil {
		both = map[string]any{}
	}
	maps.Copy(both, wantKinds)
	var all []difference
	for _, kind := range slices.Sorted(maps.Keys(both)) {
		if !equality.Semantic.DeepEqual(haveKinds[kind], wantKinds[kind]) {
			all = append(all, difference{"resources." + kind + " of the container", fieldmanager.Container(container, "resources", kind)})
		}
	}
	return all
}

// serviceDifferences compares a Service with what it should be: labels, and ports
// and selector as wholes. Type, addresses and node ports are for others to choose.
func serviceDifferences(live, wanted *corev1.Service) []difference {
	all := labelDifferences(live.Labels, wanted.Labels, "metadata", "labels")
	if !equality.Semantic.DeepEqual(withoutNodePorts(live.Spec.Ports), wanted.Spec.Ports) {
		all = append(all, difference{"ports", fieldpath.MakePathOrDie("spec", "ports")})
	}
	if !equality.Semantic.DeepEqual(live.Spec.Selector, wanted.Spec.Selector) {
		all = append(all, difference{"selector", fieldpath.MakePathOrDie("spec", "selector")})
	}
	return all
}

func withoutNodePorts(ports []corev1.ServicePort) []corev1.ServicePort {
	ports = slices.Clone(ports)
	for i := range ports {
		ports[i].NodePort = 0
	}
	return ports
}
