package decide

import (
	"testing"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

func TestTheSituationsOfTheDocumentationLeadToTheseActions(t *testing.T) {
	t.Parallel()
	want := map[string]Action{
		"There is no Deployment":                                                         Create,
		"There is no Deployment, and no image to create one with":                        Stall,
		"Everything is as declared":                                                      None,
		"The same, of a Deployment that was there before":                                None,
		"Pods are being started or replaced":                                             Wait,
		"A Pod is in trouble":                                                            Wait,
		"The number of replicas or the image differ":                                     Inspect,
		"The same, and who has set it is known":                                          PutBack,
		"What differs is fought over, and was put back a short while ago":                Wait,
		"A HorizontalPodAutoscaler is declared, and there is none":                       CreateScaler,
		"The HorizontalPodAutoscaler is as declared":                                     None,
		"It is not known what the Kubernetes API makes of what is declared":              CompareScaler,
		"The HorizontalPodAutoscaler differs":                                            InspectScaler,
		"The same, and who has changed it is known":                                      PutBackScaler,
		"The HorizontalPodAutoscaler is fought over, and was put back a short while ago": Wait,
		"The HorizontalPodAutoscaler is not declared any more":                           DeleteScaler,
		"The HorizontalPodAutoscaler is being deleted":                                   Wait,
		"A HorizontalPodAutoscaler of somebody else scales the Deployment":               Stall,
		"The Kubernetes API refuses what the spec asks for":                              Stall,
		"A schedule cannot be understood":                                                Stall,
		"The image could be for any of several containers":                               Stall,
		"There is no container of the name":                                              Stall,
		"There is an image for a Deployment that belongs to a MyApp":                     Stall,
		"Something else controls the Deployment":                                         Stall,
		"An older AppAutoscaler is for the same Deployment":                              Stall,
		"The Deployment is being deleted":                                                Wait,
		"A read or a write failed":                                                       Wait,
		"The object is paused":                                                           None,
		"The object is being deleted":                                                    None,
	}
	for _, situation := range Situations() {
		t.Run(situation.Name, func(t *testing.T) {
			t.Parallel()
			expected, listed := want[situation.Name]
			if !listed {
				t.Fatal("this situation has no expectation")
			}
			if got := Decide(situation.State).Action; got != expected {
				t.Errorf("Decide(%+v) = %s, want %s", situation.State, got, expected)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state State
		want  string
	}{
		"the younger of two does not create what is the older one's to create": {
			State{Claimed: true, Image: ImagePlaced}, exampleappsv1.ReasonClaimedByOlder,
		},
		"a paused object does not even create": {State{Paused: true, Image: ImagePlaced}, exampleappsv1.ReasonPaused},
		"a pause counts for less than deletion": {
			State{Paused: true, Deleting: true}, exampleappsv1.ReasonDeleting,
		},
		"replicas are kept while the image has no container": {
			with(func(s *State) { s.Image, s.Replicas, s.Fresh = ImageAmbiguous, FieldDiffers, true }), exampleappsv1.ReasonDrifted,
		},
		"nothing is created while a schedule cannot be understood": {
			State{Unplanned: true, Image: ImagePlaced}, exampleappsv1.ReasonInvalidSchedule,
		},
		"an image is kept while a schedule cannot be understood": {
			with(func(s *State) { s.Unplanned, s.Content, s.Fresh = true, FieldDiffers, true }), exampleappsv1.ReasonDrifted,
		},
		"a HorizontalPodAutoscaler is left as it is while a schedule cannot be understood": {
			with(func(s *State) { s.Unplanned, s.Scaler = true, ScalerDiffers }), exampleappsv1.ReasonInvalidSchedule,
		},
		"one that is not declared any more is deleted all the same": {
			with(func(s *State) { s.Unplanned, s.Scaler = true, ScalerSurplus }), exampleappsv1.ReasonTakingBack,
		},
		"an image without a container is not compared": {
			with(func(s *State) { s.Image, s.Content = ImageHomeless, FieldDiffers }), exampleappsv1.ReasonContainerNotFound,
		},
		"an image that nobody declared is not compared": {
			with(func(s *State) { s.Image, s.Content = ImageNone, FieldDiffers }), exampleappsv1.ReasonSynced,
		},
		"a field is put back though another one is held": {
			with(func(s *State) { s.Replicas, s.Content, s.Fresh = FieldHeld, FieldDiffers, true }), exampleappsv1.ReasonDrifted,
		},
		"what is fought over is told before Pods in trouble": {
			with(func(s *State) { s.Content, s.Pods = FieldHeld, PodsInTrouble }), exampleappsv1.ReasonContended,
		},
		"Pods in trouble do not make the Deployment differ": {
			with(func(s *State) { s.Pods = PodsInTrouble }), exampleappsv1.ReasonSynced,
		},
		"what was scaled is taken back before the number of replicas is looked at": {
			with(func(s *State) { s.Scaler, s.Replicas, s.Fresh = ScalerSurplus, FieldDiffers, true }), exampleappsv1.ReasonTakingBack,
		},
		"a spec that is refused does not keep a HorizontalPodAutoscaler from going": {
			with(func(s *State) { s.Scaler, s.Refused = ScalerSurplus, true }), exampleappsv1.ReasonTakingBack,
		},
		"the image is put back before replicas are handed over": {
			with(func(s *State) { s.Scaler, s.Content, s.Fresh = ScalerMissing, FieldDiffers, true }), exampleappsv1.ReasonDrifted,
		},
		"replicas are handed over while the image has no container": {
			with(func(s *State) { s.Scaler, s.Image = ScalerMissing, ImageAmbiguous }), exampleappsv1.ReasonHandingOver,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(test.state).Reason; got != test.want {
				t.Errorf("reason %q, want %q", got, test.want)
			}
		})
	}
}

func TestEveryActionAndDelayHasAName(t *testing.T) {
	t.Parallel()
	for action := range Action(actions) {
		if action.String() == "Unknown" || action.String() == "" {
			t.Errorf("action %d has no name", action)
		}
	}
	for delay := range delays {
		if delay.String() == "Unknown" || delay.String() == "" {
			t.Errorf("delay %d has no name", delay)
		}
	}
	if Action(-1).String() != "Unknown" || delays.String() != "Unknown" {
		t.Error("what is no action or delay has a name")
	}
}
