package virtualmachine_test

import (
	"fmt"
	"testing"
	"time"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/guard"
)

// crowd is how many VMs want a call at once in these tests: so many that a turn
// takes longer to come than a look is good for.
const crowd = 20

// narrow lets only so many calls a second through to the world's provider.
func (w *world) narrow() {
	w.t.Helper()
	capabilities, err := w.provider.Capabilities(w.t.Context())
	w.must(err)
	entry := w.entry(capabilities)
	entry.Client = guard.New(w.provider, guard.Options{QPS: 25, Burst: 1})
	w.set("default", entry)
}

// crowded makes the VMs, unhindered, and returns when they are as wanted.
func crowded(t *testing.T, options fake.Options, awaits func(*world, string)) *world {
	t.Helper()
	w := newWorld(t, options)
	for number := range crowd {
		w.vm(fmt.Sprintf("web-%d", number))
	}
	for number := range crowd {
		awaits(w, fmt.Sprintf("web-%d", number))
	}
	w.narrow()
	w.provider.Reset()
	return w
}

func running(w *world, name string) { w.awaitsRunning(name) }

func provisioning(w *world, name string) {
	w.awaits(name, computev1.ConditionReady, "False", computev1.ReasonProvisioning)
}

func TestACrowdIsDeletedThoughEachCallWaitsForItsTurn(t *testing.T) {
	for name, test := range map[string]struct {
		options fake.Options
		awaits  func(*world, string)
	}{
		"VMs that run":                      {full(), running},
		"VMs that are being made":           {fake.Options{Capabilities: fake.Full()}, provisioning},
		"VMs that nobody can find by a key": {minimal(), running},
	} {
		t.Run(name, func(t *testing.T) {
			w := crowded(t, test.options, test.awaits)
			for number := range crowd {
				w.delete(fmt.Sprintf("web-%d", number))
			}
			for number := range crowd {
				w.awaitsGone(fmt.Sprintf("web-%d", number))
			}
			w.live(0)
			if got := w.calls(provider.OperationDelete); got != crowd {
				t.Errorf("%d DELETEs for %d VMs", got, crowd)
			}
		})
	}
}

func TestACrowdIsResizedThoughEachCallWaitsForItsTurn(t *testing.T) {
	w := crowded(t, full(), running)
	for number := range crowd {
		w.edit(fmt.Sprintf("web-%d", number), func(vm *computev1.VirtualMachine) { vm.Spec.CPU = 4 })
	}
	for number := range crowd {
		w.eventually(func() string {
			if vm := w.get(fmt.Sprintf("web-%d", number)); vm.Status.CPU != 4 {
				return fmt.Sprintf("%s has %d CPUs", vm.Name, vm.Status.CPU)
			}
			return ""
		})
	}
}

func TestACrowdIsMadeThoughEachCallWaitsForItsTurn(t *testing.T) {
	for name, offered := range map[string][]string{
		"at a provider of the minimum":                 nil,
		"at a provider that only finds by key":         {provider.CapabilityList},
		"at a provider that takes a key twice":         {provider.CapabilityIdempotency},
		"at a provider that offers everything we know": provider.KnownCapabilities(),
	} {
		t.Run(name, func(t *testing.T) {
			// A POST is not sent, and its intent stored anew, where the pass took as long as a
			// lease: on a busy machine, the short one of tests is over soon.
			patient := func(w *world) { w.options.LeaseDuration = time.Minute }
			w := newWorld(t, fake.Options{Capabilities: provider.Capabilities{Offered: offered}, Phase: provider.PhaseRunning}, patient)
			w.narrow()
			for number := range crowd {
				w.vm(fmt.Sprintf("web-%d", number))
			}
			for number := range crowd {
				w.awaitsRunning(fmt.Sprintf("web-%d", number))
			}
			w.live(crowd)
			// One each, before its POST; none for a POST that was not made.
			if got := w.wrote("patch VirtualMachine"); got != crowd {
				t.Errorf("%d intents were stored for %d VMs", got, crowd)
			}
		})
	}
}

// wrote is how often the controller has made a kind of write.
func (w *world) wrote(what string) int {
	count := 0
	for _, write := range w.writes.all() {
		if write == what {
			count++
		}
	}
	return count
}
