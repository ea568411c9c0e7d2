package decide

// State is what a pass sees of an AppAutoscaler and its Deployment.
type State struct {
	// Deleting: the object is on its way out. Its Deployment, if owned, goes with it.
	Deleting bool
	// Paused: a person wants the Deployment to be left alone.
	Paused bool
	// Claimed: an older AppAutoscaler is for the same Deployment.
	Claimed bool
	// Unplanned: a schedule cannot be understood, so that nobody knows what number of
	// replicas counts.
	Unplanned bool
	// Fault: a read or a write of this pass failed.
	Fault bool
	// Refused: the Kubernetes API refuses what this generation of the spec asks for.
	Refused bool
	// Deployment says whose the Deployment is.
	Deployment Deployment
	// Fresh: the Deployment was read past the cache, so that it tells who has set
	// what, and what differs differs now.
	Fresh bool
	// Image says whether the spec's image has a container to go to.
	Image Image
	// Replicas compares the number of replicas with the one that counts. It means
	// something only where the schedules are understood.
	Replicas Field
	// Content compares the container's image with the declared one. It means
	// something only where Image is ImagePlaced.
	Content Field
	// Scaler compares the HorizontalPodAutoscaler with what is declared.
	Scaler Scaler
	// ScalerFresh: it was read past the cache.
	ScalerFresh bool
	// Pods says how the Deployment's Pods are.
	Pods Pods
}

// Deployment says whose the Deployment is.
type Deployment int

// The values of Deployment.
const (
	// DeploymentMissing: there is none of the name.
	DeploymentMissing Deployment = iota
	// DeploymentForeign: something else controls it.
	DeploymentForeign
	// DeploymentTerminating: it is being deleted.
	DeploymentTerminating
	// DeploymentManaged: it was there before, or belongs to a MyApp.
	DeploymentManaged
	// DeploymentOwned: this object has created it.
	DeploymentOwned
	deployments
)

// Exists reports whether there is a Deployment that this object may work on.
func (d Deployment) Exists() bool { return d == DeploymentManaged || d == DeploymentOwned }

// Image says whether the spec's image has a container to go to.
type Image int

// The values of Image.
const (
	// ImageNone: the spec has no image.
	ImageNone Image = iota
	// ImagePlaced: there is one container that it is for.
	ImagePlaced
	// ImageAmbiguous: it could be for any of several containers.
	ImageAmbiguous
	// ImageHomeless: there is no container of the name.
	ImageHomeless
	// ImageOfMyApp: the Deployment belongs to a MyApp, and so does its image.
	ImageOfMyApp
	images int = iota
)

// Field compares a field with what is declared.
type Field int

// The values of Field.
const (
	// FieldSame: it is as declared.
	FieldSame Field = iota
	// FieldDiffers: it is not.
	FieldDiffers
	// FieldHeld: it is not, and is fought over: it is not due to be put back yet.
	FieldHeld
	fields
)

// Scaler compares the HorizontalPodAutoscaler with what is declared.
type Scaler int

// The values of Scaler.
const (
	// ScalerNone: none is declared, and this object has none.
	ScalerNone Scaler = iota
	// ScalerSame: it is as declared.
	ScalerSame
	// ScalerMissing: one is declared, and there is none.
	ScalerMissing
	// ScalerUnknown: there is one, and it is not known yet what the Kubernetes API
	// makes of what is declared.
	ScalerUnknown
	// ScalerDiffers: it is not as declared.
	ScalerDiffers
	// ScalerHeld: the same, but it is fought over: it is not due to be put back yet.
	ScalerHeld
	// ScalerSurplus: this object has one, and none is declared.
	ScalerSurplus
	// ScalerTerminating: one of its name is being deleted, or about to be.
	ScalerTerminating
	// ScalerForeign: somebody else's scales the Deployment, or has its name.
	ScalerForeign
	scalers int = iota
)

// Pods says how the Deployment's Pods are.
type Pods int

// The values of Pods.
const (
	// PodsAvailable: all run what is declared and are available.
	PodsAvailable Pods = iota
	// PodsProgressing: some are being started or replaced.
	PodsProgressing
	// PodsInTrouble: something is known to be wrong with one of them.
	PodsInTrouble
	podStates int = iota
)
