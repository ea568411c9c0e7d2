package appautoscaler_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// between hands the number of replicas to a HorizontalPodAutoscaler.
func between(least, most int32) func(*exampleappsv1.AppAutoscaler) {
	return func(a *exampleappsv1.AppAutoscaler) { a.Spec.MinReplicas, a.Spec.MaxReplicas = &least, &most }
}

// takenBack ends that.
func takenBack(a *exampleappsv1.AppAutoscaler) { a.Spec.MinReplicas, a.Spec.MaxReplicas = nil, nil }

// scaler waits for a HorizontalPodAutoscaler that is as the test wants it.
func (w *world) scaler(name string, complaint func(*autoscalingv2.HorizontalPodAutoscaler) string) *autoscalingv2.HorizontalPodAutoscaler {
	w.t.Helper()
	found := &autoscalingv2.HorizontalPodAutoscaler{}
	w.eventually("HorizontalPodAutoscaler "+name, func() string {
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, found); err != nil {
			return err.Error()
		}
		return complaint(found)
	})
	return found
}

func exists(*autoscalingv2.HorizontalPodAutoscaler) string { return "" }

func bounded(least, most int32) func(*autoscalingv2.HorizontalPodAutoscaler) string {
	return func(s *autoscalingv2.HorizontalPodAutoscaler) string {
		if *s.Spec.MinReplicas != least || s.Spec.MaxReplicas != most {
			return fmt.Sprintf("sets %d to %d replicas, want %d to %d", *s.Spec.MinReplicas, s.Spec.MaxReplicas, least, most)
		}
		return ""
	}
}

// rescale edits a HorizontalPodAutoscaler as a client of some name would.
func (w *world) rescale(name, manager string, change func(*autoscalingv2.HorizontalPodAutoscaler)) {
	w.t.Helper()
	scaler := w.scaler(name, exists)
	before := scaler.DeepCopy()
	change(scaler)
	w.must(w.client.Patch(w.t.Context(), scaler, client.MergeFrom(before), client.FieldOwner(manager)))
}

func (w *world) noScaler(name string) {
	w.t.Helper()
	w.eventually("HorizontalPodAutoscaler "+name, func() string {
		err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &autoscalingv2.HorizontalPodAutoscaler{})
		if !apierrors.IsNotFound(err) {
			return fmt.Sprintf("is still there: %v", err)
		}
		return ""
	})
}

// replicasSeen follows the Deployment: the returned function ends that, and tells
// each number of replicas that it was declared to have, in order.
func (w *world) replicasSeen() func() []int32 {
	w.t.Helper()
	watching, err := client.NewWithWatch(plane.Config, client.Options{Scheme: scheme})
	w.must(err)
	ctx, cancel := context.WithCancel(w.t.Context())
	stream, err := watching.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(w.namespace))
	w.must(err)
	var mu sync.Mutex
	var seen []int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range stream.ResultChan() {
			if d, ok := e.Object.(*appsv1.Deployment); ok && e.Type != watch.Deleted {
				mu.Lock()
				seen = append(seen, *d.Spec.Replicas)
				mu.Unlock()
			}
		}
	}()
	w.eventually("the watch", func() string {
		mu.Lock()
		defer mu.Unlock()
		if len(seen) == 0 {
			return "shows nothing"
		}
		return ""
	})
	return func() []int32 {
		stream.Stop()
		cancel()
		<-done
		return slices.Compact(seen)
	}
}
