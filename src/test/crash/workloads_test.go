package crash

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// kept leads to a Deployment that an AppAutoscaler has made.
var kept = sequence(autoscale(keeper, 5, "shop:1"), shows("5 shop:1"), rollsOut(keeper))

// adopted leads to a Deployment that was there before its AppAutoscaler.
var adopted = sequence(deploy(2, "shop:0", sidecar), autoscale(keeper, 5, "shop:1"), shows("5 shop:1+proxy:1"), rollsOut(keeper))

// applied leads to a MyApp whose Deployment runs.
var applied = sequence(createApp(3), shows("3 shop:1"), appRollsOut)

// scaled leads to a MyApp whose number of replicas is an AppAutoscaler's.
var scaled = sequence(applied, autoscale(keeper, 5, ""), shows("5 shop:1"), appToldOf(keeper), bothRollOut)

// handed leads to a Deployment that a HorizontalPodAutoscaler has scaled.
var handed = sequence(kept, handOver, scalerAllows(9), autoscaling, loadAsksFor(7), waits(keeper), rolled, autoscaling)

// workloadScenarios are parts of the lives of Deployments. What is polled in them
// is a provider beside them.
func workloadScenarios() []scenario {
	all := slices.Concat(autoscalerScenarios(), appScenarios(), loadScenarios())
	all = append(all, scenario{
		name: "labeller", labeller: true,
		chronicle: []string{"2 shop:0"},
		story:     sequence(deploy(2, "shop:0"), labelled, unlabel, labelled),
	})
	for i := range all {
		all[i].metronome = true
	}
	return all
}

func autoscalerScenarios() []scenario {
	return []scenario{
		{
			name:      "autoscaler-create",
			chronicle: []string{"5 shop:1"},
			story:     kept,
		},
		{
			name:      "autoscaler-drift",
			chronicle: []string{"5 shop:1", "2 shop:1", "5 shop:1", "5 shop:9", "5 shop:1"},
			before:    kept,
			story:     sequence(scale(2), shows("5 shop:1"), setImage("shop:9"), shows("5 shop:1"), rollsOut(keeper)),
		},
		{
			name:      "autoscaler-edit",
			chronicle: []string{"5 shop:1", "7 shop:2"},
			before:    kept,
			story: sequence(editAutoscaler(func(a *exampleappsv1.AppAutoscaler) {
				a.Spec.Replicas, a.Spec.Image = new(int32(7)), "shop:2"
			}), shows("7 shop:2"), rollsOut(keeper)),
		},
		{
			name:      "autoscaler-made-again",
			chronicle: []string{"5 shop:1", Gone, "5 shop:1"},
			before:    kept,
			story:     sequence(deleteDeployment, shows("5 shop:1"), rollsOut(keeper)),
		},
		{
			name:      "autoscaler-deleted-while-creating",
			chronicle: []string{"5 shop:1", Gone}, mayNeverBe: true,
			story: sequence(autoscale(keeper, 5, "shop:1"), created, deleteAutoscaler, autoscalerGone, deploymentGone),
		},
		{
			name:      "autoscaler-of-another's",
			chronicle: []string{"2 shop:0+proxy:1", "5 shop:1+proxy:1"},
			story:     sequence(adopted, deleteAutoscaler, autoscalerGone),
		},
		{
			name:      "autoscalers-two",
			chronicle: []string{"2 shop:0+proxy:1", "5 shop:1+proxy:1", "7 shop:2+proxy:1"},
			before:    adopted,
			story: sequence(
				autoscale(rival, 7, "shop:2"), stalled(rival, exampleappsv1.ReasonClaimedByOlder),
				deleteAutoscaler, shows("7 shop:2+proxy:1"), rollsOut(rival),
			),
		},
	}
}

// loadScenarios are of HorizontalPodAutoscalers.
func loadScenarios() []scenario {
	return []scenario{
		{
			name:      "autoscaler-handed-over",
			chronicle: []string{"5 shop:1", "7 shop:1"},
			before:    kept,
			story: sequence(
				handOver, scalerAllows(9), autoscaling, loadAsksFor(7), waits(keeper), rolled, autoscaling, editScaler, scalerAllows(9),
			),
		},
		{
			name:      "autoscaler-taken-back",
			chronicle: []string{"5 shop:1", "7 shop:1", "6 shop:1", "2 shop:1", "6 shop:1"},
			before:    handed,
			story: sequence(
				deleteScaler, scalerAllows(9), takeBack(6), scalerGone, shows("6 shop:1"), rollsOut(keeper),
				scale(2), shows("6 shop:1"), rollsOut(keeper),
			),
		},
		{
			name:      "myapp-scaled-by-load",
			chronicle: []string{"3 shop:1", "6 shop:1", "6 shop:2"},
			before:    sequence(applied, autoscale(keeper, 3, ""), appToldOf(keeper), aligned(keeper)),
			story: sequence(
				handOver, scalerAllows(9), autoscaling, loadAsksFor(6), appWaits, waits(keeper), rolled, appReady, autoscaling,
				release("shop:2"), shows("6 shop:2"), appWaits, waits(keeper), rolled, appReady, autoscaling,
				editApp(func(app *exampleappsv1.MyApp) { app.Spec.Replicas = new(int32(6)) }), appToldOf(keeper),
				deleteAutoscaler, scalerGone, appToldOf(""),
			),
		},
	}
}

func appScenarios() []scenario {
	return []scenario{
		{
			name:      "myapp-create",
			chronicle: []string{"3 shop:1"},
			story:     applied,
		},
		{
			name:      "myapp-drift",
			chronicle: []string{"3 shop:1", "2 shop:9+proxy:1", "3 shop:1+proxy:1", "3 shop:1"},
			before:    applied,
			story:     sequence(spoil, shows("3 shop:1"), addPort, served(1), appRollsOut),
		},
		{
			name:      "myapp-edit",
			chronicle: []string{"3 shop:1", "4 shop:2"},
			before:    applied,
			story: sequence(editApp(func(app *exampleappsv1.MyApp) {
				app.Spec.Replicas, app.Spec.Image, app.Spec.Ports = new(int32(4)), "shop:2", nil
			}), shows("4 shop:2"), served(0), appRollsOut),
		},
		{
			name:      "myapp-taken-over",
			chronicle: []string{"3 shop:1", "3 shop:2", "5 shop:2"},
			before:    applied,
			story: sequence(
				autoscale(keeper, 3, ""), appToldOf(keeper),
				release("shop:2"), shows("3 shop:2"), bothRollOut,
				editAutoscaler(func(a *exampleappsv1.AppAutoscaler) { a.Spec.Replicas = new(int32(5)) }),
				shows("5 shop:2"), bothRollOut,
			),
		},
		{
			name:      "myapp-given-back",
			chronicle: []string{"3 shop:1", "5 shop:1", "5 shop:2", "2 shop:2", "5 shop:2"},
			before:    scaled,
			story: sequence(
				editApp(func(app *exampleappsv1.MyApp) { app.Spec.Replicas = new(int32(5)) }), appToldOf(keeper),
				deleteAutoscaler, appToldOf(""),
				release("shop:2"), shows("5 shop:2"), appRollsOut, scale(2), shows("5 shop:2"), appRollsOut,
			),
		},
		{
			name:      "myapp-made-again-while-scaled",
			chronicle: []string{"3 shop:1", "5 shop:1", Gone, "5 shop:1"},
			before:    scaled,
			story:     sequence(deleteDeployment, shows("5 shop:1"), bothRollOut),
		},
		{
			name:      "myapp-deleted-while-creating",
			chronicle: []string{"3 shop:1", Gone}, mayNeverBe: true,
			story: sequence(createApp(3), created, deleteApp, appGone, deploymentGone, served(0)),
		},
	}
}

var sidecar = corev1.Container{Name: "proxy", Image: "proxy:1"}
