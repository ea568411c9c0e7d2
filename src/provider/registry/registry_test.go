package registry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/httpapi/dial"
	"github.com/example/vmoperator/src/provider/registry"
)

var (
	aws   = types.NamespacedName{Namespace: "team", Name: "aws"}
	azure = types.NamespacedName{Namespace: "team", Name: "azure"}
)

// heard are the ProviderConfigs that listeners were told of.
type heard map[registry.Topic][]types.NamespacedName

func listen(r *registry.Registry) heard {
	told := heard{}
	for _, topic := range []registry.Topic{registry.Changed, registry.Doubted} {
		r.Listen(topic, func(key types.NamespacedName) { told[topic] = append(told[topic], key) })
	}
	return told
}

func TestListenersHearOfWhatChangesTheMeaning(t *testing.T) {
	t.Parallel()
	one, other := fake.New(fake.Options{}), fake.New(fake.Options{})
	base := registry.Entry{State: registry.Ready, Client: one, Identities: []string{"a"}, PollInterval: time.Minute}
	for name, row := range map[string]struct {
		change func(*registry.Entry)
		told   bool
		newWay bool
	}{
		"nothing":                {func(*registry.Entry) {}, false, false},
		"only a message":         {func(e *registry.Entry) { e.Message = "x" }, false, false},
		"only the poll interval": {func(e *registry.Entry) { e.PollInterval = time.Second }, false, false},
		"only the timeout":       {func(e *registry.Entry) { e.Timeout = time.Second }, false, false},
		"the reason":             {func(e *registry.Entry) { e.Reason = "Other" }, true, false},
		"the identities":         {func(e *registry.Entry) { e.Identities = []string{"b", "a"} }, true, false},
		"a release":              {func(e *registry.Entry) { e.ReleasedAt = time.Unix(1, 0) }, true, false},
		"the state":              {func(e *registry.Entry) { e.State = registry.Held }, true, true},
		"the client":             {func(e *registry.Entry) { e.Client = other }, true, true},
	} {
		r := registry.New()
		r.Set(aws, base)
		before := r.Get(aws).Revision
		told := listen(r)
		changed := base
		row.change(&changed)
		r.Set(aws, changed)
		if got := len(told[registry.Changed]) > 0; got != row.told {
			t.Errorf("%s: told %v, want %t", name, told, row.told)
		}
		if got := r.Get(aws).Revision > before; got != row.newWay {
			t.Errorf("%s: revision %d after %d, want a new one: %t", name, r.Get(aws).Revision, before, row.newWay)
		}
	}
}

func TestAnEntryThatIsSetFirstIsAChange(t *testing.T) {
	t.Parallel()
	r := registry.New()
	told := listen(r)
	if entry := r.Get(aws); entry.State != registry.Unprobed || entry.Client != nil {
		t.Errorf("an entry that was never set: %+v", entry)
	}
	r.Set(aws, registry.Entry{State: registry.NotReady, Reason: "Unreachable"})
	r.Set(azure, registry.Entry{State: registry.Ready, Client: fake.New(fake.Options{})})
	if diff := cmp.Diff(heard{registry.Changed: {aws, azure}}, told); diff != "" {
		t.Error(diff)
	}
}

func TestRevisionsAreNeverUsedAgain(t *testing.T) {
	t.Parallel()
	r := registry.New()
	seen := map[int64]bool{}
	for range 3 {
		for _, key := range []types.NamespacedName{aws, azure} {
			r.Set(key, registry.Entry{State: registry.Ready, Client: fake.New(fake.Options{})})
			if revision := r.Get(key).Revision; seen[revision] {
				t.Errorf("revision %d is used again", revision)
			}
			seen[r.Get(key).Revision] = true
		}
		r.Forget(aws)
	}
}

func TestTheOldClientIsClosedOnceItIsReplaced(t *testing.T) {
	t.Parallel()
	r := registry.New()
	closed := 0
	entry := registry.Entry{State: registry.Ready, Client: fake.New(fake.Options{}), Close: func() { closed++ }}
	r.Set(aws, entry)
	entry.State = registry.Held
	r.Set(aws, entry)
	if closed != 0 {
		t.Error("a client that is still used is closed")
	}
	r.Set(aws, registry.Entry{State: registry.NotReady})
	if closed != 1 {
		t.Errorf("closed %d times, want once", closed)
	}
	r.Set(aws, entry)
	r.Forget(aws)
	if closed != 2 {
		t.Errorf("closed %d times, want twice", closed)
	}
}

func TestForgettingTellsOnce(t *testing.T) {
	t.Parallel()
	r := registry.New()
	r.Set(aws, registry.Entry{State: registry.NotReady})
	told := listen(r)
	r.Forget(aws)
	r.Forget(aws)
	if diff := cmp.Diff(heard{registry.Changed: {aws}}, told); diff != "" {
		t.Error(diff)
	}
	if entry := r.Get(aws); entry.State != registry.Unprobed {
		t.Errorf("%+v", entry)
	}
}

func TestADoubtChangesNothingAndIsTold(t *testing.T) {
	t.Parallel()
	r := registry.New()
	r.Set(aws, registry.Entry{State: registry.Ready, Client: fake.New(fake.Options{})})
	told := listen(r)
	r.Doubt(aws)
	if diff := cmp.Diff(heard{registry.Doubted: {aws}}, told); diff != "" {
		t.Error(diff)
	}
	if r.Get(aws).State != registry.Ready {
		t.Error("the entry changed")
	}
}

func TestAListenerMayUseTheRegistry(t *testing.T) {
	t.Parallel()
	r := registry.New()
	var seen registry.State
	r.Listen(registry.Changed, func(key types.NamespacedName) { seen = r.Get(key).State })
	r.Set(aws, registry.Entry{State: registry.Held})
	if seen != registry.Held {
		t.Errorf("the listener saw %v", seen)
	}
}

func TestConnectComposesAClientThatIsLimitedAndGuarded(t *testing.T) {
	t.Parallel()
	client, closeIdle, err := registry.Connect(registry.ConnectOptions{
		Endpoint: "http://127.0.0.1:1", QPS: 0.001, Burst: 1, Dial: dial.Policy{},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer closeIdle()
	for _, want := range []provider.Cause{provider.CauseEndpointRefused, provider.CauseLocalLimit} {
		if _, err := client.Get(t.Context(), "vm-1"); provider.CauseOf(err) != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestConnectRejectsWhatNeverWorks(t *testing.T) {
	t.Parallel()
	client, closeIdle, err := registry.Connect(registry.ConnectOptions{Endpoint: "vms.example.com"})
	failure, ok := errors.AsType[*provider.Error](err)
	if client != nil || closeIdle != nil || !ok || failure.Class != provider.Rejected {
		t.Errorf("%v, error %v", client, err)
	}
}
