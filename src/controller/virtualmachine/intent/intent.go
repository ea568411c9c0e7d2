// Package intent is the record of a creation that a VirtualMachine carries in an
// annotation. It is stored before the POST that it describes, so that whoever
// comes after a crash knows what may have been made, where, and under which key.
package intent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

// Record is what is stored.
type Record struct {
	// Key is the create key: the UID that the object had when the VM was first
	// made, a slash, and the ordinal of the VM.
	Key string `json:"key"`
	// UID is the object that owns the VM. It differs from the object's own UID in a
	// restored object until somebody decides whose the VM is.
	UID types.UID `json:"uid"`
	// Object is the namespace and name that the record was stored under. A record
	// on an object of another name came with a copied manifest and means nothing.
	Object string `json:"object"`
	// ProviderConfig is the name of the ProviderConfig that the VM is made at.
	ProviderConfig string `json:"providerConfig"`
	// Identity is what that provider called itself; empty if it told nothing.
	Identity string `json:"identity,omitempty"`
	// Request is the body that is sent with every repeat.
	Request provider.CreateRequest `json:"request"`
	// AttemptedAt is when the last POST was about to be sent. It is nil if every
	// POST so far is known to have made nothing.
	AttemptedAt *metav1.MicroTime `json:"attemptedAt,omitempty"`
	// Timeout is how long that POST may take once it is sent.
	Timeout metav1.Duration `json:"timeout,omitzero"`
	// Replaces is the id of the VM that vanished, or is left alone, and that this
	// one is made instead of. A status that still names it is behind.
	Replaces string `json:"replaces,omitempty"`
}

// Of returns the record of an object; nil if it has none, none of its own, or
// one that cannot be read.
func Of(vm *computev1.VirtualMachine) *Record {
	text, found := vm.Annotations[computev1.CreateIntentAnnotation]
	if !found {
		return nil
	}
	var record Record
	if json.Unmarshal([]byte(text), &record) != nil || record.Object != objectName(vm) || record.Key == "" {
		return nil
	}
	if record.AttemptedAt != nil && !storable(record.AttemptedAt.Time) {
		// Somebody edited it. That an attempt was made must not be lost with its time.
		long := metav1.NewMicroTime(time.Unix(0, 0))
		record.AttemptedAt = &long
	}
	return &record
}

// Replacement is the record of an object whose VM was made instead of another one, or
// is to be; nil for all others. These are mostly all, and are not decoded.
func Replacement(vm *computev1.VirtualMachine) *Record {
	if !strings.Contains(vm.Annotations[computev1.CreateIntentAnnotation], `"replaces"`) {
		return nil
	}
	return Of(vm)
}

// storable reports whether a time is read as it is written: its year must have
// four digits, and the zero time is written as null.
func storable(at time.Time) bool {
	year := at.UTC().Year()
	return year >= 0 && year <= 9999 && !at.IsZero()
}

// New returns a record for the ordinal-th VM of an object, with no attempt made.
func New(vm *computev1.VirtualMachine, ordinal int, identity string, request provider.CreateRequest) *Record {
	return &Record{
		Key:            Key(vm.UID, ordinal),
		UID:            vm.UID,
		Object:         objectName(vm),
		ProviderConfig: vm.ProviderConfigName(),
		Identity:       identity,
		Request:        request,
	}
}

// Key is the create key of an object's ordinal-th VM.
func Key(uid types.UID, ordinal int) string { return fmt.Sprintf("%s/%d", uid, ordinal) }

// maxOrdinal leaves room for the keys that follow.
const maxOrdinal = 1 << 30

// Ordinal is the number in the record's key, counted from 1. A key that has none,
// or one that nobody counts to, counts as 1.
func (r *Record) Ordinal() int {
	_, number, _ := strings.Cut(r.Key, "/")
	if ordinal, err := strconv.Atoi(number); err == nil && ordinal > 0 && ordinal < maxOrdinal {
		return ordinal
	}
	return 1
}

// Labelled is the UID that the key begins with: the object's when the VM was first
// made, which the VM's labels name.
func (r *Record) Labelled() types.UID {
	uid, _, _ := strings.Cut(r.Key, "/")
	return types.UID(uid)
}

// Owned reports whether the record belongs to this very object, and not to an
// earlier one of the same name.
func (r *Record) Owned(vm *computev1.VirtualMachine) bool { return r.UID == vm.UID }

// Attempted is a copy of the record with the time of an attempt, whose POST may
// take as long as timeout.
func (r *Record) Attempted(now time.Time, timeout time.Duration) *Record {
	attempted := *r
	at := metav1.NewMicroTime(now)
	attempted.AttemptedAt = &at
	attempted.Timeout = metav1.Duration{Duration: timeout}
	return &attempted
}

// SendBefore is the time after which the attempt's POST must not be sent any
// more. Whoever waits for the attempt to settle waits for half a lease longer than
// the POST can take: room for clocks that differ, and for the way to the provider.
// It is the zero time if no attempt is recorded.
func (r *Record) SendBefore(lease time.Duration) time.Time {
	if r.AttemptedAt == nil {
		return time.Time{}
	}
	return r.AttemptedAt.Add(lease / 2)
}

// maxTimeout is the longest that a ProviderConfig may have. A record that somebody
// edited to more could be added to a time before the attempt.
const maxTimeout = 5 * time.Minute

// SettledAt is the time after which the attempt's POST cannot have its effect any
// more: when it must have been sent, and as long as it may take, with room. A
// provider may ask for longer.
func (r *Record) SettledAt(lease, timeout, provider time.Duration) time.Time {
	if r.AttemptedAt == nil {
		return time.Time{}
	}
	return r.AttemptedAt.Add(max(provider, max(timeout, min(r.Timeout.Duration, maxTimeout))+lease))
}

// Withdrawn is a copy of the record that says that nothing was made.
func (r *Record) Withdrawn() *Record {
	withdrawn := *r
	withdrawn.AttemptedAt = nil
	return &withdrawn
}

// String is the annotation's value.
func (r *Record) String() string {
	text, err := json.Marshal(r)
	if err != nil {
		// A Record holds strings, numbers and a time only: they always marshal.
		panic(err)
	}
	return string(text)
}

func objectName(vm *computev1.VirtualMachine) string { return vm.Namespace + "/" + vm.Name }
