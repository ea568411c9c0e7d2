package main

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/controller/podtrouble"
)

// standInWorkers is more than the operator's or the floor's: it is not what is
// measured.
const standInWorkers = 16

// standIn takes the place of everything that runs Pods: it says at once, in one
// write, that all Pods of a Deployment are available. Thousands of Pods that nobody
// looks at would be most of the machine's work otherwise.
type standIn struct {
	client client.Client
	cache  cache.Cache
	queue  workqueue.TypedRateLimitingInterface[client.ObjectKey]
}

// startStandIn works until ctx ends.
func startStandIn(ctx context.Context, c client.Client, from cache.Cache) error {
	s := &standIn{client: c, cache: from, queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[client.ObjectKey]())}
	informer, err := from.GetInformer(ctx, &appsv1.Deployment{})
	if err != nil {
		return fmt.Errorf("watching Deployments: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    s.enqueue,
		UpdateFunc: func(_, after any) { s.enqueue(after) },
	})
	if err != nil {
		return fmt.Errorf("watching Deployments: %w", err)
	}
	context.AfterFunc(ctx, s.queue.ShutDown)
	var workers sync.WaitGroup
	for range standInWorkers {
		workers.Go(func() { s.work(ctx) })
	}
	return nil
}

func (s *standIn) enqueue(object any) {
	if deployment, ok := object.(*appsv1.Deployment); ok && !podtrouble.Available(deployment) {
		s.queue.Add(client.ObjectKeyFromObject(deployment))
	}
}

func (s *standIn) work(ctx context.Context) {
	for {
		key, ended := s.queue.Get()
		if ended {
			return
		}
		if err := s.makeAvailable(ctx, key); err != nil {
			s.queue.AddRateLimited(key)
		} else {
			s.queue.Forget(key)
		}
		s.queue.Done(key)
	}
}

func (s *standIn) makeAvailable(ctx context.Context, key client.ObjectKey) error {
	deployment := &appsv1.Deployment{}
	if err := s.cache.Get(ctx, key, deployment); err != nil {
		return client.IgnoreNotFound(err)
	}
	if podtrouble.Available(deployment) {
		return nil
	}
	before, replicas := deployment.DeepCopy(), *deployment.Spec.Replicas
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		Conditions: []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue,
			Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability.",
			LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		}},
	}
	return client.IgnoreNotFound(s.client.Status().Patch(ctx, deployment, client.MergeFrom(before)))
}
