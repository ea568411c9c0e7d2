package virtualmachine

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/condition"
	"github.com/example/vmoperator/src/controller/virtualmachine/decide"
	"github.com/example/vmoperator/src/provider"
)

// nextStatus is the status that tells what this pass saw and decided.
func nextStatus(p *pass, s decide.State, d decide.Decision, allowed []netip.Prefix, now time.Time) computev1.VirtualMachineStatus {
	next := *p.vm.Status.DeepCopy()
	if d.Reason == "" || passing(p, d) {
		return next
	}
	next.ObservedGeneration = p.vm.Generation
	next.ID = p.id()
	if p.machine.ID != "" {
		showMachine(&next, p, publishable(p.machine.Addresses, allowed))
	} else if next.ID == "" {
		next.Phase, next.Addresses, next.CPU, next.Memory, next.ServiceName = "", nil, 0, nil, ""
	}
	for _, condition := range conditions(p, s, d, publishable(p.machine.Addresses, allowed)) {
		if condition.ObservedGeneration == 0 {
			condition.ObservedGeneration = p.vm.Generation
		}
		condition.LastTransitionTime = metav1.NewTime(now)
		setCondition(&next.Conditions, condition)
	}
	return next
}

// toldFailures is how many looks in a row must fail before the status of a VM
// that was fine tells of it: conditions must not flap with every lost packet.
const toldFailures = 3

// passing reports whether what holds a pass up is not worth a write: the VM is
// known, wanted, and its status is of this generation; or the status tells already
// of the failure that the pause follows.
func passing(p *pass, d decide.Decision) bool {
	if p.vm.Status.ObservedGeneration != p.vm.Generation {
		return false
	}
	known := p.vm.Status.ID != "" && p.vm.DeletionTimestamp.IsZero()
	switch d.Reason {
	case computev1.ReasonThrottled:
		synced := findCondition(p.vm.Status.Conditions, computev1.ConditionSynced)
		return known || synced != nil && synced.Reason == computev1.ReasonProviderError
	case computev1.ReasonProviderError:
		return known && p.seen.failures > 0 && p.seen.failures < toldFailures
	default:
		return false
	}
}

// maxStatusAddresses is the bound of status.addresses. A status with one more
// could not be written at all, and the VM's id would be lost with it.
const maxStatusAddresses = 16

// showMachine takes over what the provider shows.
func showMachine(next *computev1.VirtualMachineStatus, p *pass, addresses []netip.Addr) {
	next.ID = p.machine.ID
	next.Phase = string(p.machine.Phase)
	next.CPU = p.machine.CPU
	next.Memory = nil
	if memory, err := resource.ParseQuantity(p.machine.Memory); err == nil {
		next.Memory = &memory
	}
	next.Addresses = nil
	for _, address := range addresses[:min(len(addresses), maxStatusAddresses)] {
		next.Addresses = append(next.Addresses, address.String())
	}
	next.ServiceName = serviceName(p.vm.Name)
}

// conditions are the conditions to set; one with an empty status is to be absent.
func conditions(p *pass, s decide.State, d decide.Decision, addresses []netip.Addr) []metav1.Condition {
	message := d.Message
	if detail := detail(p, d); detail != "" {
		message += ": " + detail
	}
	result := []metav1.Condition{
		ready(p, s, d, message),
		synced(p, s, d, message),
		{Type: computev1.ConditionReconciling},
		{Type: computev1.ConditionStalled},
	}
	switch {
	case d.Action == decide.Stall:
		result[3] = metav1.Condition{Type: computev1.ConditionStalled, Status: metav1.ConditionTrue, Reason: d.Reason, Message: message}
	case inProgress(p, d):
		reason, text := d.Reason, message
		if d.Action == decide.Create || d.Action == decide.Adopt {
			reason, text = computev1.ReasonProvisioning, "the provider is making the VM"
		}
		result[2] = metav1.Condition{Type: computev1.ConditionReconciling, Status: metav1.ConditionTrue, Reason: reason, Message: text}
	}
	if p.machine.ID != "" {
		result = append(result, unaddressed(p, addresses))
	}
	return result
}

// inProgress reports whether work goes on after this pass.
func inProgress(p *pass, d decide.Decision) bool {
	if d.Action == decide.Create || d.Action == decide.Adopt {
		return p.machine.Phase == provider.PhaseProvisioning
	}
	return d.Action != decide.None
}

// detail is what the failed call or child says, in words that are safe to show.
func detail(p *pass, d decide.Decision) string {
	switch d.Reason {
	case computev1.ReasonProviderNotReady, computev1.ReasonProviderHeld:
		return p.provider.Message
	case computev1.ReasonChildConflict:
		return strings.Join(p.children.blocked, ", ")
	case computev1.ReasonChildError:
		return p.children.err.Error()
	case computev1.ReasonCreateAmbiguous:
		if p.record != nil {
			return "the create key is " + p.record.Key
		}
		return ""
	}
	if failure, ok := errors.AsType[*provider.Error](p.fault); ok && d.Reason != computev1.ReasonThrottled {
		return failure.Err.Error()
	}
	return ""
}

// ready tells whether the VM runs. A VM that cannot be read now keeps what was
// last seen of it: Synced says that the look failed.
func ready(p *pass, s decide.State, d decide.Decision, message string) metav1.Condition {
	condition := metav1.Condition{Type: computev1.ConditionReady, Status: metav1.ConditionFalse}
	phase := p.machine.Phase
	switch {
	case p.machine.ID == "":
		last := findCondition(p.vm.Status.Conditions, computev1.ConditionReady)
		if last != nil && p.vm.Status.ID != "" && p.vm.Status.ID == p.id() && s.Machine == decide.MachineUnknown {
			// Of the generation that it was seen under, for nobody has looked since.
			return *last
		}
		condition.Reason, condition.Message = d.Reason, message
	case !p.vm.DeletionTimestamp.IsZero(), phase == provider.PhaseDeleting:
		condition.Reason, condition.Message = computev1.ReasonDeleting, "the VM is being deleted"
	case phase == provider.PhaseRunning:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, computev1.ReasonRunning, "the VM runs"
	case phase == provider.PhaseProvisioning:
		condition.Reason, condition.Message = computev1.ReasonProvisioning, "the provider is making the VM"
	case phase.Known():
		condition.Reason, condition.Message = computev1.ReasonNotRunning, "the provider reports the VM as "+string(phase)
	default:
		condition.Reason, condition.Message = computev1.ReasonUnknownPhase, fmt.Sprintf("the provider reports the phase %q, which the contract does not know", string(phase))
	}
	return condition
}

// synced tells whether the last look found everything as declared.
func synced(p *pass, s decide.State, d decide.Decision, message string) metav1.Condition {
	asDeclared := d.Action == decide.None || d.Action == decide.Create || d.Action == decide.Adopt ||
		d.Reason == computev1.ReasonProvisioning
	switch {
	case d.Reason == computev1.ReasonPaused:
		return metav1.Condition{Type: computev1.ConditionSynced, Status: metav1.ConditionUnknown, Reason: d.Reason, Message: message}
	case asDeclared && p.machine.ID != "" && s.Lifecycle == decide.Live && s.Size == decide.SizeSame:
		return metav1.Condition{
			Type: computev1.ConditionSynced, Status: metav1.ConditionTrue,
			Reason: computev1.ReasonSynced, Message: "the VM is as declared",
		}
	case s.Provider == decide.ProviderNotReady && p.vm.Status.ID != "":
		return metav1.Condition{Type: computev1.ConditionSynced, Status: metav1.ConditionUnknown, Reason: d.Reason, Message: message}
	default:
		return metav1.Condition{Type: computev1.ConditionSynced, Status: metav1.ConditionFalse, Reason: d.Reason, Message: message}
	}
}

// unaddressed tells that the VM has no address to publish. There is no condition
// that says the opposite: children are written after the status, so that the
// Secret itself is the only true sign that it is there.
func unaddressed(p *pass, addresses []netip.Addr) metav1.Condition {
	condition := metav1.Condition{Type: computev1.ConditionUnaddressed}
	switch {
	case len(addresses) > 0:
		return condition
	case len(p.machine.Addresses) > 0:
		condition.Reason = computev1.ReasonAddressRefused
		condition.Message = "the provider reports only addresses that may not be published: loopback, link-local, or outside of --vm-address-cidrs"
	default:
		condition.Reason = computev1.ReasonNoAddress
		condition.Message = "the provider tells no address: the connection Secret holds the id alone, and the Service leads nowhere"
	}
	condition.Status = metav1.ConditionTrue
	return condition
}

// setCondition sets a condition, or removes one that has no status.
func setCondition(conditions *[]metav1.Condition, next metav1.Condition) {
	last := findCondition(*conditions, next.Type)
	if next.Reason == computev1.ReasonVanished && last != nil && last.Reason != next.Reason {
		// When a VM vanished is what a mass disappearance is told by: the time must be
		// that of the reason, also where the status was False before.
		meta.RemoveStatusCondition(conditions, next.Type)
	}
	condition.Set(conditions, next)
}

func findCondition(conditions []metav1.Condition, conditionType string) *metav1.Condition {
	return meta.FindStatusCondition(conditions, conditionType)
}
