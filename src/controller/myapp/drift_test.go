package myapp_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/contention"
)

func container(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.Containers[0] }

func limits(memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
}

func TestStrayLimitsAreUndoneAndItIsToldWhoSetThem(t *testing.T) {
	w := newWorld(t)
	w.settled()
	w.meddle("kubectl-edit", func(d *appsv1.Deployment) { container(d).Resources.Limits = limits("900Ti") })
	w.awaits("the limits to go", func(d *appsv1.Deployment) bool { return container(d).Resources.Limits == nil })
	w.tells("PutBack", "Deployment shop put back: resources.limits of the container, set by kubectl-edit at 20")
}

func TestWhatOthersChangeOrAddInContainersIsUndone(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		undone func(*appsv1.Deployment) bool
		told   string
	}{
		"another image": {
			func(d *appsv1.Deployment) { container(d).Image = "busybox" },
			func(d *appsv1.Deployment) bool { return container(d).Image == image },
			"image busybox -> " + image,
		},
		"a variable with another value": {
			func(d *appsv1.Deployment) { container(d).Env[0].Value = "slow" },
			func(d *appsv1.Deployment) bool { return container(d).Env[0].Value == "fast" },
			"env of the container",
		},
		"a variable taken away": {
			func(d *appsv1.Deployment) { container(d).Env = container(d).Env[1:] },
			func(d *appsv1.Deployment) bool {
				return len(container(d).Env) == 5 && container(d).Env[0].Name == "MODE"
			},
			"env of the container, set by an unknown manager",
		},
		"a variable more": {
			func(d *appsv1.Deployment) { container(d).Env = append(container(d).Env, corev1.EnvVar{Name: "DEBUG"}) },
			func(d *appsv1.Deployment) bool { return len(container(d).Env) == 5 },
			"env of the container",
		},
		"more privileges": {
			func(d *appsv1.Deployment) {
				container(d).SecurityContext.Privileged, container(d).SecurityContext.AllowPrivilegeEscalation = new(true), new(true)
			},
			func(d *appsv1.Deployment) bool {
				return container(d).SecurityContext.Privileged == nil && !*container(d).SecurityContext.AllowPrivilegeEscalation
			},
			"securityContext of the container",
		},
		"a sidecar": {
			func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "busybox"})
			},
			func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.Containers) == 1 },
			"container sidecar, set by kubectl-edit",
		},
		"an init container": {
			func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "busybox"}}
			},
			func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.InitContainers) == 0 },
			"init container first, set by kubectl-edit",
		},
		"our label gone": {
			func(d *appsv1.Deployment) { delete(d.Labels, "compute.example.com/watched") },
			func(d *appsv1.Deployment) bool { return d.Labels["compute.example.com/watched"] == "true" },
			"label compute.example.com/watched",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settled(full)
			w.meddle("kubectl-edit", test.change)
			w.awaits("it to be undone", test.undone)
			w.tells("PutBack", test.told)
			w.runs()
			w.shows("Ready", metav1.ConditionTrue, "Available")
		})
	}
}

func TestReplicasSetThroughScaleArePutBack(t *testing.T) {
	w := newWorld(t)
	w.settled()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 5}}
	w.must(w.client.SubResource("scale").Update(t.Context(), w.deployment(), client.WithSubResourceBody(scale), client.FieldOwner("kubectl")))
	w.awaits("the replicas to be put back", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 1 && d.Generation > 2 })
	w.tells("PutBack", "replicas 5 -> 1, set by kubectl via scale")
}

// kubectl rollout restart, service meshes and people put such things there.
func TestWhatOthersAddOutsideOfContainersStays(t *testing.T) {
	w := newWorld(t)
	w.settled()
	w.meddle("kubectl-rollout", func(d *appsv1.Deployment) {
		d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
		d.Spec.Template.Labels["team"], d.Labels["team"] = "a", "a"
		d.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "fast"}
		d.Spec.Template.Spec.Volumes = append(d.Spec.Template.Spec.Volumes, corev1.Volume{Name: "more"})
	})
	w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Image = "registry.example.com/shop:2" })
	w.awaits("the new image", func(d *appsv1.Deployment) bool { return container(d).Image == "registry.example.com/shop:2" })
	d := w.deployment()
	if d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] != "now" || d.Spec.Template.Labels["team"] != "a" || d.Labels["team"] != "a" ||
		d.Spec.Template.Spec.NodeSelector["disk"] != "fast" || len(d.Spec.Template.Spec.Volumes) != 2 {
		t.Errorf("something of others' is gone: %+v", d.Spec.Template)
	}
}

func TestWhoeverKeepsChangingADeploymentIsMetNoMoreOftenThanEveryFiveMinutes(t *testing.T) {
	w := newWorld(t)
	w.settled()
	other := func() { w.meddle("their-controller", func(d *appsv1.Deployment) { container(d).Image = "theirs" }) }
	back := func(d *appsv1.Deployment) bool { return container(d).Image == image }
	for range contention.Limit {
		other()
		w.awaits("the image to be put back", back)
	}
	contended := w.shows("Contended", metav1.ConditionTrue, "Contended")
	if contended.Message == "" {
		t.Error("it does not say who")
	}
	w.tells("Contended", "their-controller")
	other()
	w.shows("Synced", metav1.ConditionFalse, "Contended")
	if got := container(w.deployment()).Image; got != "theirs" {
		t.Errorf("it was put back at once: %s", got)
	}

	// A person's own change is no part of the fight.
	w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Replicas = new(int32(2)) })
	w.awaits("the new spec", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 2 && back(d) })

	other()
	w.shows("Synced", metav1.ConditionFalse, "Contended")
	w.clock.Step(contention.Rest)
	w.meddle("their-controller", func(d *appsv1.Deployment) { container(d).Image = "theirs:2" })
	w.awaits("the image to be put back after a rest", back)
	w.clock.Step(contention.Window)
	w.runs()
	w.shows("Ready", metav1.ConditionTrue, "Available")
	w.becomes("the contention to be over", func(app *exampleappsv1.MyApp) bool {
		return meta.FindStatusCondition(app.Status.Conditions, "Contended") == nil
	})
}

func TestAPullPolicyThatWasChangedIsPutBack(t *testing.T) {
	w := newWorld(t)
	w.settled(func(app *exampleappsv1.MyApp) { app.Spec.Image = "registry.example.com/shop:latest" })
	w.meddle("policy-bot", func(d *appsv1.Deployment) { container(d).ImagePullPolicy = corev1.PullIfNotPresent })
	w.awaits("the policy to be put back", func(d *appsv1.Deployment) bool { return container(d).ImagePullPolicy == corev1.PullAlways })
	w.tells("PutBack", "imagePullPolicy of the container, set by policy-bot")
}

func TestDeploymentAndServiceAreToldOfInEventsOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	w.settled(withPorts(80))
	w.tells("Created", "Deployment shop created with replicas 1")
	w.tells("Created", "Service shop created")
}
