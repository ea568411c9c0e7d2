package provider

import (
	"context"
	"crypto/rand"
	"slices"
	"time"
)

// Client speaks to one provider. See the package comment for its contract.
type Client interface {
	// Capabilities tells what the provider is and what it offers. A provider that
	// offers only the minimum yields the zero Capabilities and no error.
	Capabilities(ctx context.Context) (Capabilities, error)
	// Create makes a VM. Errors: Rejected (the request is refused for good),
	// Conflict (the key is known with another request), NotFound (the key's VM was
	// deleted since), Ambiguous (it may or may not have been made), and those that
	// every method may return.
	Create(ctx context.Context, key string, request CreateRequest) (Machine, error)
	// Get reads one VM by its id.
	Get(ctx context.Context, id string) (Machine, error)
	// FindByKey reads the VM that was made under a key. It needs List.
	FindByKey(ctx context.Context, key string) (Machine, error)
	// List reads one page of all VMs. An empty cursor is the first page. It needs
	// List.
	List(ctx context.Context, cursor string) (Page, error)
	// Resize changes the size of a VM. It needs Resize.
	Resize(ctx context.Context, id string, size Size) (Machine, error)
	// Delete asks for the deletion of a VM. Success means only that the provider
	// has accepted to delete it; NotFound is an error here as well.
	Delete(ctx context.Context, id string) error
}

// Reserver is a Client that holds calls back.
type Reserver interface {
	// Reserve is for callers that would do something in vain before a call that is then
	// held back. Its error is what the call would fail with now; without one, what lets
	// the call through is kept for the context's caller, and its next call uses it.
	Reserve(ctx context.Context, op Operation) error
}

// Reserve asks a client whether it would make a call now: see Reserver. A client that
// is none holds nothing back.
func Reserve(ctx context.Context, client Client, op Operation) error {
	if reserver, holds := client.(Reserver); holds {
		return reserver.Reserve(ctx, op)
	}
	return nil
}

// CreateRequest is the body of a creation. Its JSON form is stored beside the
// create key before it is sent, so that a repeat sends the same.
type CreateRequest struct {
	// Name is a name for people; it need not be unique.
	Name string `json:"name"`
	// Image is the name of the disk image.
	Image string `json:"image"`
	// CPU is the number of virtual CPUs.
	CPU int32 `json:"cpu"`
	// Memory is the amount of memory as a Kubernetes quantity.
	Memory string `json:"memory"`
	// Labels name the owning object; sent only where the provider offers Owner.
	Labels map[string]string `json:"labels,omitempty"`
}

// Size is what Resize changes.
type Size struct {
	// CPU is the number of virtual CPUs.
	CPU int32 `json:"cpu"`
	// Memory is the amount of memory as a Kubernetes quantity.
	Memory string `json:"memory"`
}

// Machine is a VM as its provider shows it.
type Machine struct {
	// ID is the provider's name for the VM. It is safe in a URL path.
	ID string
	// Name is the name that it was created with.
	Name string
	// Image is the name of its disk image.
	Image string
	// Phase is one of the Phase constants, or another word of the provider's.
	Phase Phase
	// CPU is the number of virtual CPUs; 0 if the provider does not tell.
	CPU int32
	// Memory is the amount of memory as a quantity; empty if the provider does
	// not tell.
	Memory string
	// Addresses are IP addresses in the provider's order.
	Addresses []string
	// Labels are those that the VM was created with; nil if the provider does not
	// tell.
	Labels map[string]string
}

// Page is one page of a list.
type Page struct {
	// Items are the page's VMs.
	Items []Machine
	// Next is the cursor of the next page; empty on the last.
	Next string
}

// Phase is what the provider says of a VM.
type Phase string

// The phases that the contract knows.
const (
	// PhaseProvisioning is a VM that is being made.
	PhaseProvisioning Phase = "Provisioning"
	// PhaseRunning is a VM that runs.
	PhaseRunning Phase = "Running"
	// PhaseStopped is a VM that exists and does not run.
	PhaseStopped Phase = "Stopped"
	// PhaseDeleting is a VM that is being deleted.
	PhaseDeleting Phase = "Deleting"
	// PhaseFailed is a VM that could not be made or does not work.
	PhaseFailed Phase = "Failed"
)

// KnownPhases are the phases that the contract knows.
func KnownPhases() []Phase {
	return []Phase{PhaseProvisioning, PhaseRunning, PhaseStopped, PhaseDeleting, PhaseFailed}
}

// Known reports whether the contract knows the phase.
func (p Phase) Known() bool { return slices.Contains(KnownPhases(), p) }

// Names of optional capabilities, as GET /capabilities lists them.
const (
	// CapabilityIdempotency is the header Idempotency-Key on POST /vms.
	CapabilityIdempotency = "idempotency"
	// CapabilityList is GET /vms, paged and by key.
	CapabilityList = "list"
	// CapabilityResize is PATCH /vms/{id}.
	CapabilityResize = "resize"
	// CapabilityOwner is labels on POST that reads return.
	CapabilityOwner = "owner"
)

// KnownCapabilities are the names that the contract knows, sorted.
func KnownCapabilities() []string {
	return []string{CapabilityIdempotency, CapabilityList, CapabilityOwner, CapabilityResize}
}

// Capabilities is what a provider is and offers. The zero value is the minimum:
// three endpoints, no identity.
type Capabilities struct {
	// Identity names the account or installation; it never changes for one. It is
	// empty if the provider does not tell.
	Identity string
	// Settle is how long after a call its effect may still be unseen.
	Settle time.Duration
	// Offered are the capabilities' names, sorted.
	Offered []string
}

// Has reports whether the provider offers a capability.
func (c Capabilities) Has(name string) bool {
	return slices.Contains(c.Offered, name)
}

// CallInfo travels with a context to the provider and into logs.
type CallInfo struct {
	// Caller is the namespace and name of the object that the call is made for.
	// A rate limiter keeps its place in the queue under this name.
	Caller string
	// RequestID joins the logs of both sides. It is sent as X-Request-ID.
	RequestID string
	// Worker says that one of the workers that all providers share waits for the
	// answer. Of such calls a provider gets its share: see guard.Bulkhead.
	Worker bool
}

type callInfoKey struct{}

// WithCallInfo returns a context whose calls carry info.
func WithCallInfo(ctx context.Context, info CallInfo) context.Context {
	return context.WithValue(ctx, callInfoKey{}, info)
}

// CallInfoFrom returns what WithCallInfo stored, or the zero CallInfo.
func CallInfoFrom(ctx context.Context) CallInfo {
	info, _ := ctx.Value(callInfoKey{}).(CallInfo)
	return info
}

// WithRequestID returns a context whose CallInfo has a request ID, and that ID:
// the one it had, or a new one.
func WithRequestID(ctx context.Context) (context.Context, string) {
	info := CallInfoFrom(ctx)
	if info.RequestID == "" {
		info.RequestID = rand.Text()
		ctx = WithCallInfo(ctx, info)
	}
	return ctx, info.RequestID
}
