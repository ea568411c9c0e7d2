package v1

// Condition types that only a MyApp has.
const (
	// ConditionAvailable is what the Deployment says of the same name: enough Pods are
	// available.
	ConditionAvailable = "Available"
	// ConditionProgressing is what the Deployment says of the same name: a rollout
	// goes on or has ended, and is false when it makes no progress.
	ConditionProgressing = "Progressing"
)

// Reasons of a MyApp's conditions. Ready has the reason of the Pods that are in
// trouble as well, and Available and Progressing have the Deployment's.
const (
	// ReasonApplying means that Deployment or Service are not as declared, and are
	// about to be written.
	ReasonApplying = "Applying"
	// ReasonChildConflict means that a Deployment or a Service of the name belongs to
	// somebody else.
	ReasonChildConflict = "ChildConflict"
	// ReasonWaiting means that a Deployment or a Service of the name is being deleted:
	// it is made again once it is gone.
	ReasonWaiting = "Waiting"
)

// MyAppLabel names the MyApp that a Deployment, its Pods or a Service belong to.
const MyAppLabel = "apps.example.io/my-app"
