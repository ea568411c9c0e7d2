package crash

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// follower writes the chronicle of the Deployment, from every version that the
// apiserver tells of: also one that is put right a moment later is seen.
type follower struct {
	Chronicle

	// version is the last one that was seen.
	version atomic.Pointer[string]
}

// follow begins the chronicle. What departs from what the scenario says is found at
// once.
func (w *world) follow(want []string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	watching, err := kube.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(w.namespace))
	if err != nil {
		w.t.Fatal(err)
	}
	w.follower = &follower{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range watching.ResultChan() {
			w.see(event, want)
		}
		if ctx.Err() == nil {
			w.auditor.find(Stuck, "the chronicle of the Deployment ends too early")
		}
	}()
	w.t.Cleanup(func() {
		cancel()
		<-ended
	})
}

func (w *world) see(event watch.Event, want []string) {
	deployment, is := event.Object.(*appsv1.Deployment)
	if !is {
		return
	}
	if deployment.Name != shop {
		w.auditor.find(Unasked, "there is a Deployment %s", deployment.Name)
		return
	}
	switch event.Type {
	case watch.Added, watch.Modified:
		w.follower.See(deployment)
	case watch.Deleted:
		w.follower.SeeGone()
	case watch.Bookmark, watch.Error:
	}
	w.follower.version.Store(&deployment.ResourceVersion)
	if !w.follower.Leads(want) {
		w.auditor.find(Unasked, "the Deployment was %q, and should be %q", w.follower.Lines(), want)
	}
}

// caughtUp waits until the chronicle tells of the Deployment as it is.
func (w *world) caughtUp() error {
	return w.await("the chronicle", func(ctx context.Context) (bool, error) {
		live := &appsv1.Deployment{}
		err := kube.Get(ctx, w.named(shop), live)
		lines := w.follower.Lines()
		if apierrors.IsNotFound(err) {
			return len(lines) == 0 || lines[len(lines)-1] == Gone, nil
		}
		seen := w.follower.version.Load()
		if err != nil || seen == nil {
			return false, err
		}
		order, err := resourceversion.CompareResourceVersion(*seen, live.ResourceVersion)
		return order >= 0, err
	})
}

// judgeMasters looks for a number of replicas that the operator has written while
// there was a HorizontalPodAutoscaler of its making: the two would fight over it.
func (w *world) judgeMasters() {
	handed := false
	for _, entry := range w.record.Entries() {
		if !entry.Took() || !IsEffect(entry.Call, w.namespace) {
			continue
		}
		switch {
		case entry.Resource == "horizontalpodautoscalers":
			handed = entry.Verb != "delete"
		case handed && entry.Resource == "deployments" && bytes.Contains(entry.Body, []byte(`"replicas"`)):
			w.auditor.find(Unasked, "replicas have two masters: %s", entry)
		}
	}
}

// toldCreated is how an event tells of a Deployment that was created.
var toldCreated = regexp.MustCompile(`^Deployment \S+ created`)

// judge holds the whole chronicle against what the scenario says, and the events
// against the chronicle. A crash may lose an event, and none may tell of what did not
// happen.
func (w *world) judge(s scenario) error {
	if err := w.caughtUp(); err != nil {
		return err
	}
	lines := w.follower.Lines()
	if short := len(lines) != len(s.chronicle); short && (!s.mayNeverBe || len(lines) > 0) {
		w.auditor.find(Unasked, "in the end the Deployment was %q, and should be %q", lines, s.chronicle)
	}
	w.judgeMasters()
	told := 0
	err := w.await("each creation to be told", func(ctx context.Context) (bool, error) {
		var all eventsv1.EventList
		if err := kube.List(ctx, &all, client.InNamespace(w.namespace)); err != nil {
			return false, err
		}
		told = 0
		for i := range all.Items {
			if toldCreated.MatchString(all.Items[i].Note) {
				told++
			}
			if untrue := w.follower.Untrue(all.Items[i].Note); untrue != "" {
				w.auditor.find(Untrue, "%q: %s was never seen in %q", all.Items[i].Note, untrue, lines)
			}
		}
		return told >= w.follower.Births() || w.saboteur.point != nil, nil
	})
	if births := w.follower.Births(); told > births {
		w.auditor.find(Untrue, "%d events tell of a Deployment created, and %d were, in %s", told, births, strings.Join(lines, ", "))
	}
	return err
}
