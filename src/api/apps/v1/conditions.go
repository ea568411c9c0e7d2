package v1

// Condition types. Reconciling, Stalled, Contended and ScalingInactive exist only while they are
// true, as kstatus expects of the first two.
const (
	// ConditionReady is true when the object serves its purpose now.
	ConditionReady = "Ready"
	// ConditionSynced is true when the last look found everything as declared.
	ConditionSynced = "Synced"
	// ConditionReconciling is present while the operator works towards the spec.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present while only a change by a person can help.
	ConditionStalled = "Stalled"
	// ConditionContended is present while somebody else sets a field again and again
	// that the operator puts back.
	ConditionContended = "Contended"
	// ConditionScalingInactive is present while the HorizontalPodAutoscaler of an
	// AppAutoscaler says that it cannot scale, with its reason.
	ConditionScalingInactive = "ScalingInactive"
)

// Reasons of the conditions of more than one kind.
const (
	// ReasonSynced means that everything is as declared.
	ReasonSynced = "Synced"
	// ReasonPaused means that PausedAnnotation is set.
	ReasonPaused = "Paused"
	// ReasonDeleting means that the object is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonCreating means that the Deployment is being made.
	ReasonCreating = "Creating"
	// ReasonAvailable means that all Pods run what is declared and are available.
	ReasonAvailable = "Available"
	// ReasonProgressing means that Pods are being started or replaced, and nothing is
	// known to be wrong with them.
	ReasonProgressing = "Progressing"
	// ReasonRefused means that the Kubernetes API refuses what the spec asks for.
	ReasonRefused = "Refused"
	// ReasonReconcileFailed means that a read or a write failed in a way that may pass.
	ReasonReconcileFailed = "ReconcileFailed"
)

// Reasons of an AppAutoscaler's conditions. Ready has the reason of the Pods that
// are in trouble as well, as Kubernetes names it: Unschedulable,
// ImagePullBackOff, CrashLoopBackOff and so on.
const (
	// ReasonDrifted means that a field is not as declared, and is about to be put back.
	ReasonDrifted = "Drifted"
	// ReasonContended means that two masters fight over a field.
	ReasonContended = "Contended"
	// ReasonImageRequired means that there is no Deployment, and no image to create
	// one with.
	ReasonImageRequired = "ImageRequired"
	// ReasonContainerRequired means that containerName must say which of several
	// containers the image is for.
	ReasonContainerRequired = "ContainerRequired"
	// ReasonContainerNotFound means that the Deployment has no container of the name.
	ReasonContainerNotFound = "ContainerNotFound"
	// ReasonInvalidSchedule means that a schedule's cron expression or time zone cannot
	// be understood.
	ReasonInvalidSchedule = "InvalidSchedule"
	// ReasonImageOfMyApp means that the Deployment belongs to a MyApp, whose image
	// counts.
	ReasonImageOfMyApp = "ImageOfMyApp"
	// ReasonForeignController means that something else controls the Deployment.
	ReasonForeignController = "ForeignController"
	// ReasonClaimedByOlder means that an older AppAutoscaler is for the same
	// Deployment.
	ReasonClaimedByOlder = "ClaimedByOlder"
	// ReasonForeignScaler means that a HorizontalPodAutoscaler of somebody else scales
	// the Deployment, or has the name of the one that is to be made.
	ReasonForeignScaler = "ForeignScaler"
	// ReasonHandingOver means that a HorizontalPodAutoscaler is being made, and sets
	// the number of replicas from then on.
	ReasonHandingOver = "HandingOver"
	// ReasonTakingBack means that the HorizontalPodAutoscaler is being deleted, and
	// replicas counts from then on.
	ReasonTakingBack = "TakingBack"
)

// AppAutoscalerConflictReasons are the reasons to stall that mean that the
// Deployment is somebody else's to manage.
func AppAutoscalerConflictReasons() []string {
	return []string{ReasonForeignController, ReasonClaimedByOlder, ReasonForeignScaler, ReasonImageOfMyApp}
}
