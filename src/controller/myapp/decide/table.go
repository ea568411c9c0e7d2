package decide

// Situation is a State with the words that describe it.
type Situation struct {
	// Name describes the State in a sentence.
	Name string
	// State is what Decide is asked about.
	State State
}

// Situations are the States that the documentation's transition table shows, in
// the order in which a MyApp's life meets them.
func Situations() []Situation {
	is := func(state ChildState) Child { return Child{State: state} }
	fresh := func(state ChildState) Child { return Child{State: state, Fresh: true} }
	return []Situation{
		{"The cache shows no Deployment", State{Deployment: is(ChildMissing), Service: is(ChildMissing)}},
		{"There is no Deployment", State{Deployment: fresh(ChildMissing), Service: is(ChildMissing)}},
		{"The cache shows no Service, and there are ports", State{Service: is(ChildMissing)}},
		{"There is no Service, and there are ports", State{Service: fresh(ChildMissing)}},
		{"Everything is as declared", State{}},
		{"Pods are being started or replaced", State{Pods: PodsProgressing}},
		{"A Pod is in trouble", State{Pods: PodsInTrouble}},
		{"The Deployment differs", State{Deployment: is(ChildDiffers)}},
		{"The same, and who has changed it is known", State{Deployment: fresh(ChildDiffers)}},
		{"The Service differs", State{Service: is(ChildDiffers)}},
		{"The same, and who has changed that is known", State{Service: fresh(ChildDiffers)}},
		{"What differs is fought over, and was put back a short while ago", State{Deployment: is(ChildHeld)}},
		{"There is a Service, and no ports any more", State{Service: is(ChildSurplus)}},
		{"A Deployment of the name is being deleted", State{Deployment: is(ChildWaiting), Service: is(ChildMissing)}},
		{"A Service of the name is being deleted", State{Service: is(ChildWaiting)}},
		{"A Deployment of the name is somebody else's", State{Deployment: fresh(ChildForeign), Service: is(ChildMissing)}},
		{"A Service of the name is somebody else's", State{Service: fresh(ChildForeign)}},
		{"The Kubernetes API refuses what the spec asks for", State{Refused: true, Deployment: fresh(ChildDiffers)}},
		{"A read or a write failed", State{Fault: true, Deployment: fresh(ChildDiffers)}},
		{"The object is paused", State{Paused: true, Deployment: fresh(ChildDiffers)}},
		{"The object is being deleted", State{Deleting: true, Deployment: fresh(ChildMissing), Service: fresh(ChildMissing)}},
	}
}
