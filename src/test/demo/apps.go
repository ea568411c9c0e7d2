package main

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/labeller"
)

// The samples of apps.example.io, and what they name.
const (
	autoscalerSample = "docs/samples/apps_v1_appautoscaler.yaml"
	autoscaler       = "order-service-autoscaler"
	orderService     = "order-service"
	orderReplicas    = 5

	myAppSample = "docs/samples/apps_v1_myapp.yaml"
	shop        = "shop"
)

func scaleDeployment(ctx context.Context, t *tour) error {
	t.screen.say("%sno kubelet runs here: the Pods of Deployments stay Pending", indent)
	if err := t.kubectl.show(ctx, "apply", "-f", autoscalerSample); err != nil {
		return err
	}
	if err := t.untilReplicas(ctx, orderService, orderReplicas); err != nil {
		return err
	}
	if err := t.kubectl.show(ctx, "scale", "deployment", orderService, "--replicas=2"); err != nil {
		return err
	}
	note := fmt.Sprintf("replicas 2 -> %d, set by kubectl via scale", orderReplicas)
	if err := t.untilTold(ctx, "AppAutoscaler", autoscaler, note); err != nil {
		return err
	}
	if err := t.untilReplicas(ctx, orderService, orderReplicas); err != nil {
		return err
	}
	if err := t.kubectl.show(ctx, "get", "aas,deployment"); err != nil {
		return err
	}
	return t.kubectl.show(ctx, "events", "--for", "appautoscaler/"+autoscaler)
}

func removePorts(ctx context.Context, t *tour) error {
	if err := t.kubectl.show(ctx, "apply", "-f", myAppSample); err != nil {
		return err
	}
	app := &exampleappsv1.MyApp{}
	if err := t.untilObject(ctx, app, shop, "Deployment and Service to be as declared", func() (string, bool) {
		return conditions(app.Status.Conditions), meta.IsStatusConditionTrue(app.Status.Conditions, exampleappsv1.ConditionSynced)
	}); err != nil {
		return err
	}
	if err := t.kubectl.show(ctx, "get", "myapp/"+shop, "deployment/"+shop, "service/"+shop); err != nil {
		return err
	}
	if err := t.kubectl.show(ctx, "patch", "myapp", shop, "--type=merge", "-p", `{"spec":{"ports":null}}`); err != nil {
		return err
	}
	if err := t.until(ctx, "Service "+shop+" to be deleted", func(ctx context.Context) (string, bool) {
		err := t.client.Get(ctx, key(shop), &corev1.Service{})
		return fmt.Sprintf("error %v", err), apierrors.IsNotFound(err)
	}); err != nil {
		return err
	}
	if err := t.untilTold(ctx, "MyApp", shop, "Service "+shop+" deleted"); err != nil {
		return err
	}
	return t.kubectl.show(ctx, "events", "--for", "myapp/"+shop)
}

func removeLabel(ctx context.Context, t *tour) error {
	if err := t.untilLabelled(ctx, shop); err != nil {
		return err
	}
	if err := t.kubectl.show(ctx, "label", "deployment", shop, labeller.DefaultKey+"-"); err != nil {
		return err
	}
	if err := t.untilLabelled(ctx, shop); err != nil {
		return err
	}
	return t.kubectl.show(ctx, "get", "deployment", "-L", labeller.DefaultKey)
}

// deleteApps deletes the objects, and waits until what they owned is collected.
func deleteApps(ctx context.Context, t *tour) error {
	if err := t.kubectl.show(ctx, "delete", "aas,myapp", "--all"); err != nil {
		return err
	}
	if err := t.until(ctx, "the garbage collection of Deployments", func(ctx context.Context) (string, bool) {
		var list appsv1.DeploymentList
		if err := t.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%d are left", len(list.Items)), len(list.Items) == 0
	}); err != nil {
		return err
	}
	t.screen.say("%sDeployments are garbage-collected", indent)
	return nil
}

func (t *tour) untilReplicas(ctx context.Context, name string, wanted int32) error {
	deployment := &appsv1.Deployment{}
	expected := fmt.Sprintf("Deployment %s to have %d replicas", name, wanted)
	return t.untilObject(ctx, deployment, name, expected, func() (string, bool) {
		return fmt.Sprintf("%d replicas", *deployment.Spec.Replicas), *deployment.Spec.Replicas == wanted
	})
}

func (t *tour) untilLabelled(ctx context.Context, name string) error {
	deployment := &appsv1.Deployment{}
	expected := fmt.Sprintf("Deployment %s to have the label %s=%s", name, labeller.DefaultKey, labeller.DefaultValue)
	return t.untilObject(ctx, deployment, name, expected, func() (string, bool) {
		return fmt.Sprintf("labels %v", deployment.Labels), deployment.Labels[labeller.DefaultKey] == labeller.DefaultValue
	})
}

// untilTold waits for an event about an object with these words in its note.
func (t *tour) untilTold(ctx context.Context, kind, name, words string) error {
	return t.until(ctx, fmt.Sprintf("an event with %q", words), func(ctx context.Context) (string, bool) {
		var list eventsv1.EventList
		if err := t.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return err.Error(), false
		}
		var notes []string
		told := false
		for i := range list.Items {
			if about := list.Items[i].Regarding; about.Kind == kind && about.Name == name {
				notes = append(notes, list.Items[i].Note)
				told = told || strings.Contains(list.Items[i].Note, words)
			}
		}
		return fmt.Sprintf("%q", notes), told
	})
}
