package system

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/operator"
)

// fleetSize is enough for a cost of each VM to be told from one of all.
const fleetSize = 200

// fleet is a namespace with many VMs.
type fleet struct {
	*world
	provider  *fake.Provider
	metronome *metronome
}

func TestASettledFleetCostsNoWriteAndNoCallOfItsOwnForAnyVM(t *testing.T) {
	t.Parallel()
	f := &fleet{
		world:    &world{t: t, namespace: namespace(t)},
		provider: fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning}),
	}
	f.showLog()
	server := httptest.NewServer(wire.Handler(f.provider))
	t.Cleanup(server.Close)
	f.lead()
	create(t, builders.ProviderConfig(f.namespace, computev1.DefaultProviderConfig, server.URL, func(config *computev1.ProviderConfig) {
		config.Spec.PollInterval = &metav1.Duration{Duration: beat}
	}))
	f.metronome = startMetronome(t, f.namespace)
	for i := range fleetSize {
		f.vm(fmt.Sprintf("vm-%d", i))
	}
	f.settles()
	f.staysSettled(f.writes())

	f.operator.Terminate()
	f.operator.WantEnd()
	before := f.writes()
	f.provider.Reset()
	f.lead()
	f.staysSettled(before)
}

// lead starts an operator, whose limits are not what is tested.
func (f *fleet) lead() {
	f.t.Helper()
	f.start(loopback, "--provider-qps=1000", "--provider-burst=1000")
}

// settles waits until all VMs run and have their children, and what there is to tell
// of it is told.
func (f *fleet) settles() {
	f.t.Helper()
	operator.WaitFor(f.t, "all VMs to run", func(ctx context.Context) bool {
		var vms computev1.VirtualMachineList
		if kube.List(ctx, &vms, client.InNamespace(f.namespace)) != nil {
			return false
		}
		running := 0
		for i := range vms.Items {
			conditions := vms.Items[i].Status.Conditions
			if meta.IsStatusConditionTrue(conditions, computev1.ConditionReady) && meta.IsStatusConditionTrue(conditions, computev1.ConditionSynced) {
				running++
			}
		}
		return running == fleetSize
	})
	operator.WaitFor(f.t, "all children", func(ctx context.Context) bool {
		var slices discoveryv1.EndpointSliceList
		// It is the last of the children that is made.
		return kube.List(ctx, &slices, client.InNamespace(f.namespace)) == nil && len(slices.Items) == fleetSize
	})
	for before := f.writes(); ; {
		f.metronome.wait(f.t, 1)
		now := f.writes()
		if len(now.since(before)) == 0 {
			break
		}
		before = now
	}
	f.provider.Reset()
}

// staysSettled fails if the operator writes anything, or asks for a single VM, for
// several times as long as it takes to look at all.
func (f *fleet) staysSettled(before tally) {
	f.t.Helper()
	f.metronome.wait(f.t, calmBeats)
	operator.WaitFor(f.t, "lists of all VMs", func(context.Context) bool {
		return f.provider.Counts()[provider.OperationList] >= calmBeats
	})
	if more := f.writes().since(before); len(more) > 0 {
		f.t.Errorf("with nothing to do, the operator has made %s", more)
	}
	for operation, calls := range f.provider.Counts() {
		if operation != provider.OperationList && operation != provider.OperationCapabilities {
			f.t.Errorf("with nothing to do, the operator has made %d calls of %s", calls, operation)
		}
	}
}
