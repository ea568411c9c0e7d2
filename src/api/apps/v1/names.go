package v1

// Names that users and scripts rely on: none may change.
const (
	// FieldOwner is the field manager of everything that the operator writes.
	FieldOwner = "vmoperator"

	// PausedAnnotation, when "true", stops all work on an object. A change of it
	// causes a reconcile.
	PausedAnnotation = "apps.example.io/paused"
)
