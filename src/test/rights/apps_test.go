package rights

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

const appImage = "registry.example.com/shop:1.2.0"

// autoscaled has an AppAutoscaler make a Deployment, and put back what somebody
// changes. No Pod of it ever runs, so it also looks at them.
func (i *installation) autoscaled() {
	i.t.Helper()
	autoscaler := &exampleappsv1.AppAutoscaler{
		ObjectMeta: i.meta("orders-autoscaler"),
		Spec:       exampleappsv1.AppAutoscalerSpec{DeploymentName: "orders", Replicas: new(int32(2)), Image: appImage},
	}
	create(i.t, autoscaler)
	deployment := &appsv1.Deployment{ObjectMeta: i.meta("orders")}
	i.awaits("the Deployment", deployment, func() bool { return true })
	change(i, deployment, func(deployment *appsv1.Deployment) { deployment.Spec.Replicas = new(int32(1)) })
	i.awaits("the replicas to be put back", deployment, func() bool { return *deployment.Spec.Replicas == 2 })
	i.awaits("the Pods to be seen", autoscaler, func() bool { return autoscaler.Status.Replicas == 2 })
	i.handedOver(autoscaler)
	i.deleted(autoscaler)
}

// handedOver has a HorizontalPodAutoscaler made, put back, and deleted.
func (i *installation) handedOver(autoscaler *exampleappsv1.AppAutoscaler) {
	i.t.Helper()
	change(i, autoscaler, func(a *exampleappsv1.AppAutoscaler) { a.Spec.MaxReplicas = new(int32(4)) })
	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: i.meta(autoscaler.Name)}
	i.awaits("the HorizontalPodAutoscaler", scaler, func() bool { return true })
	change(i, scaler, func(scaler *autoscalingv2.HorizontalPodAutoscaler) { scaler.Spec.MaxReplicas = 9 })
	i.awaits("the bound to be put back", scaler, func() bool { return scaler.Spec.MaxReplicas == 4 })
	change(i, autoscaler, func(a *exampleappsv1.AppAutoscaler) { a.Spec.MaxReplicas = nil })
	i.gone(scaler)
}

// exposed has a MyApp make a Deployment and a Service, and lose its ports.
func (i *installation) exposed() {
	i.t.Helper()
	app := &exampleappsv1.MyApp{
		ObjectMeta: i.meta("shop"),
		Spec: exampleappsv1.MyAppSpec{
			Image: appImage, Replicas: new(int32(1)), Ports: []exampleappsv1.MyAppPort{{Name: "http", Port: 80, TargetPort: 8080}},
		},
	}
	create(i.t, app)
	service := &corev1.Service{ObjectMeta: i.meta("shop")}
	i.awaits("the Service", service, func() bool { return true })
	change(i, app, func(app *exampleappsv1.MyApp) { app.Spec.Ports = nil })
	i.gone(service)
	i.awaits("the Pods to be seen", app, func() bool { return app.Status.Replicas == 1 })
	i.deleted(app)
}
