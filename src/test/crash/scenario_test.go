package crash

import (
	"slices"
	"time"

	"github.com/example/vmoperator/src/provider"
)

const (
	pollInterval = time.Second
	// callTimeout is longer than any call takes on a busy machine: one that times out
	// is another effect in one run and none in the next.
	callTimeout = 3 * time.Second
)

// scenario is a part of a life: of a VM, or of a Deployment.
type scenario struct {
	name string
	// phase of a VM just made; Running if empty.
	phase provider.Phase
	// slowDelete leaves VMs Deleting until the provider finishes.
	slowDelete bool
	// metronome is for a story whose end leaves nothing to be polled.
	metronome bool
	// before leads to where the story begins. Its effects are another scenario's.
	before []step
	// story is what effects are recorded and disturbed in.
	story []step
	// abandonable: the user may delete the object in the middle of the story.
	abandonable bool
	// smoke scenarios are tried by a plain go test.
	smoke bool

	// chronicle is all that the Deployment is in the scenario, one after the other: see
	// Chronicle. A scenario that has one has no provider.
	chronicle []string
	// mayNeverBe: the Deployment may be asked for no more before it is made.
	mayNeverBe bool
	// labeller has the operator run that controller too.
	labeller bool
}

// kinds are the kinds of provider that the scenario is told with.
func (s scenario) kinds() []Kind {
	if s.workload() {
		return []Kind{None}
	}
	return []Kind{Full, Minimal}
}

// workload reports whether the scenario is about a Deployment.
func (s scenario) workload() bool { return len(s.chronicle) > 0 }

// wanted leads to a VM that runs.
var wanted = []step{createProvider, createVM, running}

func scenarios() []scenario { return slices.Concat(machineScenarios(), workloadScenarios()) }

func machineScenarios() []scenario {
	return []scenario{
		{
			name: "create", smoke: true, abandonable: true,
			story: wanted,
		},
		{
			name: "create-slow", phase: provider.PhaseProvisioning, abandonable: true,
			before: []step{createProvider, providerReady},
			story:  []step{createVM, provisioning, finishProvisioning, running},
		},
		{
			name: "delete", slowDelete: true,
			before: wanted,
			story:  []step{deleteVM, beingDeleted, finishDeletion, vmGone},
		},
		{
			name: "delete-while-creating", phase: provider.PhaseProvisioning,
			before: []step{createProvider, providerReady},
			story:  []step{createVM, posted, deleteVM, vmGone},
		},
		{
			name:   "delete-while-unreachable",
			before: wanted,
			story:  []step{cutOff, deleteVM, heldUp, reconnect, vmGone},
		},
		{
			name:   "spec-change",
			before: wanted,
			story:  []step{edit, edited},
		},
		{
			name: "vanished", abandonable: true,
			before: wanted,
			story:  []step{loseVM, another},
		},
		{
			name:   "credential-rotation",
			before: wanted,
			story:  []step{askForAnotherKey, providerRefuses, rotate, providerReady, running},
		},
		{
			name: "config-deleted", metronome: true,
			before: wanted,
			story:  []step{deleteProvider, providerInUse, deleteVM, vmGone, providerGone},
		},
		{
			name: "namespace-deleted", metronome: true,
			before: wanted,
			story:  []step{deleteNamespace, namespaceGone},
		},
	}
}
