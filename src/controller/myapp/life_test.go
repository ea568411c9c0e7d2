package myapp_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

func withPorts(ports ...int32) func(*exampleappsv1.MyApp) {
	return func(app *exampleappsv1.MyApp) {
		app.Spec.Ports = nil
		for i, port := range ports {
			app.Spec.Ports = append(app.Spec.Ports, exampleappsv1.MyAppPort{Name: "port-" + string(rune('a'+i)), Port: port, TargetPort: 8080})
		}
	}
}

// full has every field that there is.
func full(app *exampleappsv1.MyApp) {
	quantity := func(text string) *resource.Quantity { parsed := resource.MustParse(text); return &parsed }
	withPorts(80, 81)(app)
	app.Spec.Replicas = new(int32(3))
	app.Spec.Env = []exampleappsv1.MyAppEnvVar{
		{Name: "MODE", Value: new("fast")},
		{Name: "EMPTY"},
		{Name: "PASSWORD", ValueFrom: &exampleappsv1.MyAppEnvVarSource{SecretKeyRef: &exampleappsv1.MyAppKeyReference{Name: "shop", Key: "password"}}},
		{Name: "COLOUR", ValueFrom: &exampleappsv1.MyAppEnvVarSource{ConfigMapKeyRef: &exampleappsv1.MyAppKeyReference{Name: "shop", Key: "colour"}}},
		{Name: "NODE", ValueFrom: &exampleappsv1.MyAppEnvVarSource{FieldRef: &exampleappsv1.MyAppFieldReference{FieldPath: "spec.nodeName"}}},
	}
	app.Spec.Resources = &exampleappsv1.MyAppResources{
		Requests: &exampleappsv1.MyAppResourceList{CPU: quantity("0.5"), Memory: quantity("1024Mi")},
		Limits:   &exampleappsv1.MyAppResourceList{CPU: quantity("1000m"), Memory: quantity("2147483648")},
	}
	app.Spec.Probes = &exampleappsv1.MyAppProbes{
		Startup:   &exampleappsv1.MyAppProbe{Exec: &exampleappsv1.MyAppExec{Command: []string{"/healthy", "--now"}}, FailureThreshold: 30},
		Readiness: &exampleappsv1.MyAppProbe{HTTPGet: &exampleappsv1.MyAppHTTPGet{Port: 8080}},
		Liveness:  &exampleappsv1.MyAppProbe{TCPSocket: &exampleappsv1.MyAppTCPSocket{Port: 8080}, InitialDelaySeconds: new(int32(5)), PeriodSeconds: 60, TimeoutSeconds: 3},
	}
	app.Spec.SecurityContext = &exampleappsv1.MyAppSecurityContext{ReadOnlyRootFilesystem: new(false), RunAsUser: new(int64(1000))}
}

func TestTheMinimalMyAppGetsAHardenedDeploymentAndNoService(t *testing.T) {
	w := newWorld(t)
	w.settled()
	deployment := w.deployment()
	container := deployment.Spec.Template.Spec.Containers[0]
	want := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		ReadOnlyRootFilesystem: new(true), RunAsNonRoot: new(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if diff := cmp.Diff(want, container.SecurityContext); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}}, container.VolumeMounts); diff != "" {
		t.Error(diff)
	}
	if token := deployment.Spec.Template.Spec.AutomountServiceAccountToken; token == nil || *token {
		t.Error("the Pods get a token for the Kubernetes API")
	}
	if container.Image != image || *deployment.Spec.Replicas != 1 {
		t.Errorf("%d of %s", *deployment.Spec.Replicas, container.Image)
	}
	owner := metav1.GetControllerOf(deployment)
	if owner == nil || owner.UID != w.get().UID || owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion {
		t.Errorf("the owner is %+v", owner)
	}
	if entry := deployment.ManagedFields[0]; entry.Manager != "vmoperator" || entry.Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("it was written by %s, %s", entry.Manager, entry.Operation)
	}
	if err := w.client.Get(t.Context(), w.key(), &corev1.Service{}); !apierrors.IsNotFound(err) {
		t.Errorf("there is a Service: %v", err)
	}
	status := w.get().Status
	if status.ObservedGeneration != 1 || status.Replicas != 1 || status.AvailableReplicas != 1 || status.Selector != "apps.example.io/my-app=shop" {
		t.Errorf("the status is %+v", status)
	}
	w.tells("Created", "Deployment shop created with replicas 1")
	w.tells("Available", "all Pods are available")
}

// Whatever default the API server adds that is not known here would be a difference
// for ever.
func TestNothingIsWrittenOnceAllIsAsDeclared(t *testing.T) {
	for name, change := range map[string]func(*exampleappsv1.MyApp){"minimal": func(*exampleappsv1.MyApp) {}, "full": full} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settled(change)
			before := w.ledger.Writes()
			w.restart()
			w.looks()
			var rest []string
			for _, write := range w.ledger.Writes()[len(before):] {
				if write != "patch *v1.MyApp status" {
					rest = append(rest, write)
				}
			}
			if len(rest) > 0 {
				t.Errorf("written: %v", rest)
			}
			// Two turns of the pause, and nothing else.
			if got := len(w.ledger.Writes()) - len(before); got != 2 {
				t.Errorf("%d writes of the status, want 2", got)
			}
		})
	}
}

func TestACreationCostsOneWriteForEachChildAndOneOrTwoForTheStatus(t *testing.T) {
	w := newWorld(t)
	w.app(withPorts(80))
	w.shows("Synced", metav1.ConditionTrue, "Synced")
	count := map[string]int{}
	for _, write := range w.ledger.Writes() {
		count[write]++
	}
	if count["apply Deployment"] != 1 || count["apply Service"] != 1 || count["patch *v1.MyApp status"] > 2 || len(count) != 3 {
		t.Errorf("the writes are %v", count)
	}
}

func TestTheServiceFollowsThePortsAndGoesWithTheLast(t *testing.T) {
	w := newWorld(t)
	w.settled(withPorts(80))
	service := func() *corev1.Service {
		found := &corev1.Service{}
		w.must(w.client.Get(t.Context(), w.key(), found))
		return found
	}
	w.tells("Created", "Deployment shop created with replicas 1")
	w.tells("Created", "Service shop created")
	first := service()
	if got := first.Spec.Ports; len(got) != 1 || got[0].Port != 80 || got[0].TargetPort.IntVal != 8080 || first.Spec.Selector["apps.example.io/my-app"] != shop {
		t.Errorf("the Service is %+v", first.Spec)
	}
	w.edit(withPorts(81, 82))
	w.until("the new ports", func(context.Context) bool {
		ports := service().Spec.Ports
		return len(ports) == 2 && ports[0].Port == 81 && ports[1].Port == 82
	})
	if got := service(); got.UID != first.UID || got.Spec.ClusterIP != first.Spec.ClusterIP {
		t.Error("the Service was made anew")
	}
	w.edit(withPorts())
	w.until("the Service to go", func(ctx context.Context) bool {
		return apierrors.IsNotFound(w.client.Get(ctx, w.key(), &corev1.Service{}))
	})
	w.tells("ServiceDeleted", "there are no ports any more")
}

func TestAServiceKeepsItsTypeAndNodePortsAndLosesPortsThatOthersAdd(t *testing.T) {
	w := newWorld(t)
	w.settled(withPorts(80))
	service := &corev1.Service{}
	w.must(w.client.Get(t.Context(), w.key(), service))
	service.Spec.Type = corev1.ServiceTypeNodePort
	service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "debug", Port: 6060})
	service.Spec.Selector["debug"] = "true"
	w.must(w.client.Update(t.Context(), service, client.FieldOwner("kubectl-edit")))
	w.until("the added port to go", func(ctx context.Context) bool {
		w.must(w.client.Get(ctx, w.key(), service))
		return len(service.Spec.Ports) == 1 && len(service.Spec.Selector) == 1
	})
	if service.Spec.Type != corev1.ServiceTypeNodePort || service.Spec.Ports[0].NodePort == 0 {
		t.Errorf("the Service is %+v", service.Spec)
	}
	w.tells("PutBack", "Service shop put back: ports, selector, set by kubectl-edit")
}

func TestAChangedSpecIsAppliedAndWhatIsTakenOutGoes(t *testing.T) {
	w := newWorld(t)
	w.settled(full)
	w.edit(func(app *exampleappsv1.MyApp) {
		app.Spec.Image, app.Spec.Env, app.Spec.Resources, app.Spec.Probes = "registry.example.com/shop", app.Spec.Env[:1], nil, nil
		app.Spec.SecurityContext = nil
	})
	w.awaits("the new spec", func(d *appsv1.Deployment) bool {
		c := d.Spec.Template.Spec.Containers[0]
		return c.Image == "registry.example.com/shop" && c.ImagePullPolicy == corev1.PullAlways && len(c.Env) == 1 && c.Resources.Limits == nil &&
			c.LivenessProbe == nil && *c.SecurityContext.ReadOnlyRootFilesystem && c.SecurityContext.RunAsUser == nil && len(c.VolumeMounts) == 1
	})
	w.shows("Progressing", metav1.ConditionTrue, "Progressing")
	w.runs()
	w.shows("Ready", metav1.ConditionTrue, "Available")
	w.tells("Updated", "image registry.example.com/shop:1.2.0 -> registry.example.com/shop", "env of the container")
	if got := w.deployment().Generation; got != 2 {
		t.Errorf("the Deployment was changed %d times, want once: each time restarts the Pods", got-1)
	}
}

func TestAPausedMyAppIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.settled()
	w.edit(func(app *exampleappsv1.MyApp) {
		app.Annotations = map[string]string{exampleappsv1.PausedAnnotation: "true"}
	})
	w.shows("Synced", metav1.ConditionUnknown, "Paused")
	w.meddle("kubectl", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(4)) })
	w.runs()
	w.becomes("told how many replicas there are", func(app *exampleappsv1.MyApp) bool { return app.Status.Replicas == 4 })
	if got := *w.deployment().Spec.Replicas; got != 4 {
		t.Errorf("it was put back to %d", got)
	}
	w.edit(func(app *exampleappsv1.MyApp) { app.Annotations = nil })
	w.awaits("the replicas to be put back", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 1 })
}

func TestWhatAMyAppOwnsGoesWithItAndIsNotMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.settled(withPorts(80), func(app *exampleappsv1.MyApp) { app.Finalizers = []string{"example.com/wait"} })
	w.must(w.client.Delete(t.Context(), w.get()))
	w.must(w.client.Delete(t.Context(), w.deployment()))
	w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Replicas = new(int32(2)) })
	w.restart()
	w.edit(func(app *exampleappsv1.MyApp) { app.Finalizers = nil })
	w.until("garbage collection", func(ctx context.Context) bool {
		return apierrors.IsNotFound(w.client.Get(ctx, w.key(), &corev1.Service{}))
	})
	if err := w.client.Get(t.Context(), w.key(), &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment was made again: %v", err)
	}
	applied := 0
	for _, write := range w.ledger.Writes() {
		if write == "apply Deployment" {
			applied++
		}
	}
	if applied != 1 {
		t.Errorf("the Deployment was applied %d times", applied)
	}
}

func TestADeploymentThatIsDeletedIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.settled(withPorts(80))
	was := w.deployment().UID
	w.must(w.client.Delete(t.Context(), w.deployment()))
	w.awaits("another Deployment", func(d *appsv1.Deployment) bool { return d.UID != was })
}

func TestWhatTheAPIRefusesStallsUntilTheSpecChanges(t *testing.T) {
	w := newWorld(t)
	w.ledger.Fail(func(write string) error {
		if write == "apply Deployment" {
			return apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, shop, nil)
		}
		return nil
	})
	w.app()
	stalled := w.shows("Stalled", metav1.ConditionTrue, "Refused")
	if !strings.Contains(stalled.Message, "is invalid") {
		t.Errorf("it says %q", stalled.Message)
	}
	w.ledger.Fail(nil)
	w.edit(func(app *exampleappsv1.MyApp) { app.Spec.Replicas = new(int32(2)) })
	w.shows("Synced", metav1.ConditionTrue, "Synced")
	if meta.FindStatusCondition(w.get().Status.Conditions, "Stalled") != nil {
		t.Error("still Stalled")
	}
}

func TestAFailureIsToldAndPasses(t *testing.T) {
	w := newWorld(t)
	w.ledger.Fail(func(write string) error {
		if strings.HasPrefix(write, "apply") {
			return errors.New("the disk is full")
		}
		return nil
	})
	w.app()
	failed := w.shows("Synced", metav1.ConditionFalse, "ReconcileFailed")
	if !strings.Contains(failed.Message, "creating the Deployment: the disk is full") {
		t.Errorf("it says %q", failed.Message)
	}
	w.ledger.Fail(nil)
	w.shows("Synced", metav1.ConditionTrue, "Synced")
	if slices.ContainsFunc(w.get().Status.Conditions, func(c metav1.Condition) bool { return c.Reason == "ReconcileFailed" }) {
		t.Errorf("the failure stays: %+v", w.get().Status.Conditions)
	}
}
