package main

import "context"

// subject is a kind of objects that is measured, in one namespace.
type subject struct {
	// kind is what the report calls the objects.
	kind string
	// controller is what the operator's metrics call the controller.
	controller string
	// workers is how many objects the controller works on at once.
	workers int
	// phases are gone through in their order, by the operator and by the floor.
	phases []phase
}

// phase is something that is done to all objects, and what comes of it.
type phase struct {
	// name is a word for the figures.
	name string
	// until says what the time is that the phase takes.
	until string
	// begin does it to one object, as a user would.
	begin func(ctx context.Context, i int) error
	// settled reports whether all has come of it, from a cache.
	settled func(ctx context.Context, i int) (bool, error)
	// writes are those that the operator may make, in the order in which it does. It
	// may make no others.
	writes []write
	// besides are calls that do not come with each object. They may be made some times
	// a second, and the floor does without.
	besides []string
}

// write is one kind of write to the apiserver, or of call to a provider.
type write struct {
	// call is what it is in the audit log, as in "patch appautoscalers/status", or, with
	// callPrefix, what the provider counts.
	call string
	// most is how many the operator may make for an object.
	most int
	// aside: it is sent beside the passes, by a goroutine of its own, as client-go
	// sends events.
	aside bool
	// do makes one for an object; last is the last for the object in this phase.
	do func(ctx context.Context, i int, last bool) error
}
