package labeller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/controller/contention"
	"github.com/example/vmoperator/src/controller/labeller"
	"github.com/example/vmoperator/src/test/operator"
)

func waitForLabels(t *testing.T, object *appsv1.Deployment, want map[string]string) {
	t.Helper()
	operator.WaitFor(t, "the labels of "+object.Name, func(ctx context.Context) bool {
		return cmp.Equal(stored(ctx, t, object), want)
	})
}

func TestTheDeploymentsThatTheSelectorPicksGetTheLabel(t *testing.T) {
	t.Parallel()
	place, elsewhere := namespace(t), namespace(t)
	early := deployment(t, place, "early", map[string]string{"tier": "web"})
	other := deployment(t, place, "other", map[string]string{"tier": "web", "managed-by": "somebody"})
	right := deployment(t, place, "right", map[string]string{"tier": "web", "managed-by": "my-operator"})
	unpicked := deployment(t, place, "unpicked", map[string]string{"tier": "db"})
	outside := deployment(t, elsewhere, "outside", map[string]string{"tier": "web"})
	counted := start(t, place, "tier=web")

	want := map[string]string{"tier": "web", "managed-by": "my-operator"}
	waitForLabels(t, early, want)
	waitForLabels(t, other, want)
	late := deployment(t, place, "late", map[string]string{"tier": "web"})
	waitForLabels(t, late, want)
	if got := stored(t.Context(), t, unpicked); got["managed-by"] != "" {
		t.Errorf("one that is not picked has %v", got)
	}
	if got := stored(t.Context(), t, outside); got["managed-by"] != "" {
		t.Errorf("one in another namespace has %v", got)
	}
	var now appsv1.Deployment
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(right), &now); err != nil {
		t.Fatal(err)
	}
	if now.ResourceVersion != right.ResourceVersion {
		t.Error("one that has the label was written")
	}
	// Those whose version had moved on are written to twice, the first time in vain.
	if got := counted.writes.Load(); got < 3 {
		t.Errorf("%d writes for 3 Deployments", got)
	}
}

func TestWithoutASelectorAllDeploymentsGetTheLabelAndEachIsWrittenOnce(t *testing.T) {
	t.Parallel()
	place := namespace(t)
	const n = 20
	all := make([]*appsv1.Deployment, 0, n)
	for i := range n {
		all = append(all, deployment(t, place, "web-"+string(rune('a'+i)), nil))
	}
	counted := start(t, place, "")
	for _, one := range all {
		waitForLabels(t, one, map[string]string{"managed-by": "my-operator"})
	}
	// Nothing else writes to these Deployments, so that no version is behind.
	if got := counted.writes.Load(); got != n {
		t.Errorf("%d writes for %d Deployments", got, n)
	}
}

func TestALabelThatIsChangedOrTakenAwayIsPutBack(t *testing.T) {
	t.Parallel()
	place := namespace(t)
	web := deployment(t, place, "web", map[string]string{"tier": "web"})
	start(t, place, "")
	want := map[string]string{"tier": "web", "managed-by": "my-operator"}
	waitForLabels(t, web, want)
	relabel(t, web, nil)
	waitForLabels(t, web, want)
	relabel(t, web, new("somebody"))
	waitForLabels(t, web, want)
	operator.WaitFor(t, "the event that tells of the other value", func(ctx context.Context) bool {
		var list eventsv1.EventList
		if err := kube.List(ctx, &list, client.InNamespace(place)); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			e := &list.Items[i]
			if e.Reason == labeller.ReasonLabelReplaced && e.Regarding.Kind == "Deployment" && e.Regarding.UID == web.UID &&
				e.Note == `label managed-by was "somebody" and is "my-operator" now` {
				return true
			}
		}
		return false
	})
}

func TestADeploymentThatIsBeingDeletedIsLeftAlone(t *testing.T) {
	t.Parallel()
	leaving := deployment(t, namespace(t), "leaving", nil, "example.com/wait")
	t.Cleanup(func() {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		if err := kube.Patch(context.WithoutCancel(t.Context()), leaving, patch); err != nil {
			t.Error(err)
		}
	})
	if err := kube.Delete(t.Context(), leaving); err != nil {
		t.Fatal(err)
	}
	reconciler, counted, _ := direct(t, time.Now)
	if got := pass(t, reconciler, leaving); got != (ctrl.Result{}) || counted.writes.Load() != 0 {
		t.Errorf("%d writes, result %v", counted.writes.Load(), got)
	}
}

func pass(t *testing.T, reconciler *labeller.Reconciler, object *appsv1.Deployment) ctrl.Result {
	t.Helper()
	result, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestWhoeverKeepsChangingTheLabelBackIsMetNoMoreOftenThanEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	web, now := deployment(t, namespace(t), "web", nil), newClock()
	reconciler, counted, recorder := direct(t, now.time)
	for range contention.Limit {
		pass(t, reconciler, web)
		relabel(t, web, new("theirs"))
		now.add(time.Second)
	}
	if got := pass(t, reconciler, web).RequeueAfter; got != contention.Rest-time.Second {
		t.Errorf("the next look is in %s", got)
	}
	if got := counted.writes.Load(); got != contention.Limit {
		t.Errorf("%d writes, want %d", got, contention.Limit)
	}
	told := told(recorder)
	if got := strings.Count(strings.Join(told, "\n"), labeller.ReasonLabelContended); got != 1 {
		t.Errorf("that it is contended is told %d times: %q", got, told)
	}

	now.add(contention.Rest)
	pass(t, reconciler, web)
	if got := stored(t.Context(), t, web)["managed-by"]; got != "my-operator" {
		t.Errorf("after the rest the label is %q", got)
	}
	relabel(t, web, new("theirs"))
	if got := pass(t, reconciler, web).RequeueAfter; got != contention.Rest {
		t.Errorf("it does not rest again, but looks in %s", got)
	}

	now.add(contention.Window)
	pass(t, reconciler, web)
	relabel(t, web, new("theirs"))
	pass(t, reconciler, web)
	if got := stored(t.Context(), t, web)["managed-by"]; got != "my-operator" {
		t.Errorf("after ten quiet minutes one change is not put back at once: %q", got)
	}
}

func told(recorder *events.FakeRecorder) []string {
	var all []string
	for {
		select {
		case event := <-recorder.Events:
			all = append(all, event)
		default:
			return all
		}
	}
}

// behind reads a Deployment as it was when the test began.
type behind struct {
	client.Client

	metadata map[string]string
	version  string
}

func (b *behind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := b.Client.Get(ctx, key, object, options...)
	object.SetLabels(b.metadata)
	object.SetResourceVersion(b.version)
	return err
}

func TestOneThatIsTakenOutOfTheSelectionMeanwhileIsNotLabelled(t *testing.T) {
	t.Parallel()
	web := deployment(t, namespace(t), "web", map[string]string{"tier": "web"})
	reconciler, _, _ := direct(t, time.Now)
	reconciler.Rule = rule(t, "tier=web")
	reconciler.Client = &behind{Client: kube, metadata: web.Labels, version: web.ResourceVersion}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"tier":null}}}`))
	if err := kube.Patch(t.Context(), web, patch); err != nil {
		t.Fatal(err)
	}
	if got := pass(t, reconciler, web).RequeueAfter; got == 0 {
		t.Error("it does not look again")
	}
	if got := stored(t.Context(), t, web); len(got) != 0 {
		t.Errorf("it is labelled: %v", got)
	}
}
