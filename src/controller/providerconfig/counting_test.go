package providerconfig_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider/registry"
)

// countingClient counts writes, those to a status included, and can fail those
// that are not.
type countingClient struct {
	client.Client

	writes  *atomic.Int64
	failing *atomic.Bool
}

func (c *countingClient) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	c.writes.Add(1)
	if c.failing.Load() {
		return errors.New("the apiserver is away")
	}
	return c.Client.Patch(ctx, object, patch, options...)
}

func (c *countingClient) Status() client.SubResourceWriter {
	return &countingStatus{SubResourceWriter: c.Client.Status(), writes: c.writes}
}

type countingStatus struct {
	client.SubResourceWriter

	writes *atomic.Int64
}

func (c *countingStatus) Patch(
	ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption,
) error {
	c.writes.Add(1)
	return c.SubResourceWriter.Patch(ctx, object, patch, options...)
}

// countingReader counts passes: each begins with one read of its ProviderConfig.
type countingReader struct {
	client.Reader

	passes *atomic.Int64
}

func (c *countingReader) Get(ctx context.Context, key types.NamespacedName, object client.Object, options ...client.GetOption) error {
	if _, isConfig := object.(*computev1.ProviderConfig); isConfig {
		c.passes.Add(1)
	}
	return c.Reader.Get(ctx, key, object, options...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func unless(fine bool, complaint string) string {
	if fine {
		return ""
	}
	return complaint
}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

func eventList() client.ObjectList { return &eventsv1.EventList{} }

// read returns the ProviderConfig as it is stored.
func (r *rig) read(name string) *computev1.ProviderConfig {
	r.t.Helper()
	config := &computev1.ProviderConfig{}
	must(r.t, kube.Get(r.t.Context(), r.key(name), config))
	return config
}

// shows is what a user reads of the conditions: "Ready=True/Probed", sorted by
// type, and for the ones that exist only while true, the type and the reason.
func shows(config *computev1.ProviderConfig) string {
	var words []string
	for _, kind := range []string{
		computev1.ConditionReady, computev1.ConditionReconciling, computev1.ConditionStalled,
	} {
		condition := meta.FindStatusCondition(config.Status.Conditions, kind)
		switch {
		case condition == nil:
		case kind == computev1.ConditionReady:
			words = append(words, kind+"="+string(condition.Status)+"/"+condition.Reason)
		default:
			words = append(words, kind+"/"+condition.Reason)
		}
	}
	return strings.Join(words, " ")
}

// shown waits until a ProviderConfig shows these conditions for its present spec,
// and returns it.
func (r *rig) shown(name, want string) *computev1.ProviderConfig {
	r.t.Helper()
	var config *computev1.ProviderConfig
	r.eventually(name+" shows "+want, func() string {
		config = r.read(name)
		got := shows(config)
		return unless(got == want && config.Status.ObservedGeneration == config.Generation, "it shows "+got)
	})
	return config
}

const showsReady = "Ready=True/Probed"

func showsStalled(reason string) string { return "Ready=False/" + reason + " Stalled/" + reason }

func showsRetried(reason string) string { return "Ready=False/" + reason + " Reconciling/" + reason }

// told waits until an event with this reason tells of the ProviderConfig aws, and
// returns its note.
func (r *rig) told(reason string) string {
	r.t.Helper()
	var note string
	r.eventually("an event "+reason, func() string {
		var others []string
		for _, event := range r.events() {
			if event.Reason == reason {
				note = event.Note
				return ""
			}
			others = append(others, event.Reason)
		}
		return "there are only " + strings.Join(others, ", ")
	})
	return note
}

func (r *rig) events() []eventsv1.Event {
	r.t.Helper()
	list := &eventsv1.EventList{}
	must(r.t, kube.List(r.t.Context(), list, client.InNamespace(r.namespace)))
	var about []eventsv1.Event
	for _, event := range list.Items {
		if event.Regarding.Name == "aws" {
			about = append(about, event)
		}
	}
	return about
}

// entered waits until the registry's entry of aws has a state.
func (r *rig) entered(state registry.State) registry.Entry {
	r.t.Helper()
	r.eventually("the registry", func() string {
		return unless(r.reg.Get(r.key("aws")).State == state, "the state is another")
	})
	return r.reg.Get(r.key("aws"))
}
