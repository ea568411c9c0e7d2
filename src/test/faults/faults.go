// Package faults says, in one table, what every failure of a provider leads to:
// what a user reads, which events are told, what the provider is asked, and how it
// ends. The system tests try each row with real processes, and the documentation
// shows the same rows.
package faults

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/mockprovider"
)

// Row is one failure, and all that it leads to.
type Row struct {
	// Name says what the provider does, without a subject: "answers 500".
	Name string
	// Class is what the operator concludes from it.
	Class provider.Class
	// At is the provider that fails.
	At Kind
	// During is what goes on when it fails.
	During Stage
	// Faults are what it does, each about one VM. Those with a Count of -1 last until
	// Ends begins.
	Faults []mockprovider.Fault
	// Timeout is the ProviderConfig's; 0 means the default.
	Timeout time.Duration

	// Shows are conditions that the VirtualMachine gets.
	Shows []Condition
	// Warns are the reasons of all Warning events, and how often each is told from the
	// failure to the end.
	Warns map[string]int
	// Pace is how the failed call is repeated while the failure lasts.
	Pace Pace
	// Pause is how long nothing is asked, with AfterPause.
	Pause time.Duration
	// Calls are how many calls of an operation are made for the VM in all. Operations
	// that it does not name may be called more often.
	Calls map[string]int
	// Ends is what ends it; empty for Passes.
	Ends End
	// VMs is how many VMs were made for the object, whatever became of them later.
	VMs int
}

// Condition is what a user reads.
type Condition struct {
	// Type is Ready, Synced, Reconciling or Stalled.
	Type string
	// Status is that of the condition.
	Status metav1.ConditionStatus
	// Reason is that of the condition.
	Reason string
}

// Kind is a kind of provider.
type Kind string

// The kinds.
const (
	// Full offers every capability.
	Full Kind = "full"
	// Minimal offers the three endpoints.
	Minimal Kind = "minimum"
	// ListOnly offers list, and keeps no create key.
	ListOnly Kind = "list alone"
	// SlowFull is Full, and reads do not show a VM for some seconds after its POST.
	SlowFull Kind = "full, slow to show"
	// SlowMinimal is Minimal, and as slow.
	SlowMinimal Kind = "minimum, slow to show"
)

// Stage is what goes on when a provider fails.
type Stage string

// The stages.
const (
	// Creating: the VM is about to be made.
	Creating Stage = "POST"
	// Looking: the VM runs and is looked at.
	Looking Stage = "GET"
	// Finding: the object is deleted, and its VM's id is not known, for no POST was
	// answered.
	Finding Stage = "GET ?key="
	// Resizing: the VM runs, and cpu was edited.
	Resizing Stage = "PATCH"
	// Deleting: the VM runs, and its object was deleted.
	Deleting Stage = "DELETE"
)

// Operation is the stage's call, as the mock provider's ledger names it.
func (s Stage) Operation() string {
	return map[Stage]string{
		Creating: "create", Looking: "get", Finding: "find", Resizing: "resize", Deleting: "delete",
	}[s]
}

// Pace is how a failed call is repeated.
type Pace string

// The paces.
const (
	// Passing: not at all, for the failure is over, or its effect is found.
	Passing Pace = ""
	// Backoff: after one second, twice as long after every further failure, at most a
	// minute.
	Backoff Pace = "1 s, 2 s, 4 s ... 60 s"
	// AfterPause: when the pause that the provider asked for is over.
	AfterPause Pace = "after the pause"
	// Once: not before somebody changes something, or an hour has passed, also when
	// the object is looked at again.
	Once Pace = "after a change, or an hour"
	// Capped: after five minutes, whatever pause the provider asked for.
	Capped Pace = "after 5 min"
	// Hourly: after an hour, or when the object is looked at for another reason.
	Hourly Pace = "after an hour"
)

// End is what ends a failure.
type End string

// The ends.
const (
	// Passes: the provider works again.
	Passes End = ""
	// EditsSpec: the provider works again, and a person edits cpu.
	EditsSpec End = "edit the spec"
	// UndoesEdit: a person sets cpu back.
	UndoesEdit End = "undo the edit"
	// TakesOver: a person names the VM.
	TakesOver End = "annotate take-over-id"
	// ConfirmsNone: a person says that there is no VM.
	ConfirmsNone End = "annotate confirm-not-created"
	// Retains: a person sets Retain on the object that is being deleted.
	Retains End = "set Retain"
	// RemovesVM: a person deletes the VM at the provider.
	RemovesVM End = "delete the VM at the provider"
	// ChangesProvider: a person changes the ProviderConfig's spec, which begins anew
	// with the provider.
	ChangesProvider End = "change the ProviderConfig"
)

// Date is a RetryAfter that stands for the date which lies the row's Pause ahead
// when the fault is ordered.
const Date = "a date"
