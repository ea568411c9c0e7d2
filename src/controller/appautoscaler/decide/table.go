package decide

// Situation is a State with the words that describe it.
type Situation struct {
	// Name describes the State in a sentence.
	Name string
	// State is what Decide is asked about.
	State State
}

// with is a Deployment that was created by its AppAutoscaler and is as declared,
// changed.
func with(change func(*State)) State {
	s := State{Deployment: DeploymentOwned, Image: ImagePlaced}
	change(&s)
	return s
}

// Situations are the States that the documentation's transition table shows, in
// the order in which an AppAutoscaler's life meets them.
func Situations() []Situation {
	return []Situation{
		{"There is no Deployment", State{Image: ImagePlaced}},
		{"There is no Deployment, and no image to create one with", State{}},
		{"Everything is as declared", with(func(*State) {})},
		{"The same, of a Deployment that was there before", with(func(s *State) { s.Deployment = DeploymentManaged })},
		{"Pods are being started or replaced", with(func(s *State) { s.Pods = PodsProgressing })},
		{"A Pod is in trouble", with(func(s *State) { s.Pods = PodsInTrouble })},
		{"The number of replicas or the image differ", with(func(s *State) { s.Replicas = FieldDiffers })},
		{"The same, and who has set it is known", with(func(s *State) { s.Content, s.Fresh = FieldDiffers, true })},
		{"What differs is fought over, and was put back a short while ago", with(func(s *State) { s.Replicas = FieldHeld })},
		{"A HorizontalPodAutoscaler is declared, and there is none", with(func(s *State) { s.Scaler = ScalerMissing })},
		{"The HorizontalPodAutoscaler is as declared", with(func(s *State) { s.Scaler = ScalerSame })},
		{"It is not known what the Kubernetes API makes of what is declared", with(func(s *State) { s.Scaler = ScalerUnknown })},
		{"The HorizontalPodAutoscaler differs", with(func(s *State) { s.Scaler = ScalerDiffers })},
		{"The same, and who has changed it is known", with(func(s *State) { s.Scaler, s.ScalerFresh = ScalerDiffers, true })},
		{"The HorizontalPodAutoscaler is fought over, and was put back a short while ago", with(func(s *State) { s.Scaler = ScalerHeld })},
		{"The HorizontalPodAutoscaler is not declared any more", with(func(s *State) { s.Scaler = ScalerSurplus })},
		{"The HorizontalPodAutoscaler is being deleted", with(func(s *State) { s.Scaler, s.Replicas = ScalerTerminating, FieldDiffers })},
		{"A HorizontalPodAutoscaler of somebody else scales the Deployment", with(func(s *State) { s.Scaler, s.Replicas = ScalerForeign, FieldDiffers })},
		{"The Kubernetes API refuses what the spec asks for", with(func(s *State) { s.Refused, s.Scaler = true, ScalerUnknown })},
		{"A schedule cannot be understood", with(func(s *State) { s.Unplanned, s.Replicas = true, FieldDiffers })},
		{"The image could be for any of several containers", with(func(s *State) { s.Image = ImageAmbiguous })},
		{"There is no container of the name", with(func(s *State) { s.Image = ImageHomeless })},
		{"There is an image for a Deployment that belongs to a MyApp", with(func(s *State) {
			s.Deployment, s.Image = DeploymentManaged, ImageOfMyApp
		})},
		{"Something else controls the Deployment", with(func(s *State) { s.Deployment = DeploymentForeign })},
		{"An older AppAutoscaler is for the same Deployment", with(func(s *State) { s.Claimed = true })},
		{"The Deployment is being deleted", with(func(s *State) { s.Deployment = DeploymentTerminating })},
		{"A read or a write failed", with(func(s *State) { s.Fault = true })},
		{"The object is paused", with(func(s *State) { s.Paused, s.Replicas = true, FieldDiffers })},
		{"The object is being deleted", with(func(s *State) { s.Deleting = true })},
	}
}
