package system

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/operator"
)

// condition is what a user is to read in a status.
type condition struct {
	kind   string
	status metav1.ConditionStatus
	reason string
	// words that the message must have.
	words []string
}

// awaits waits until a VirtualMachine has a condition for its present spec, and
// returns it.
func (w *world) awaits(name string, want condition) *computev1.VirtualMachine {
	w.t.Helper()
	vm := &computev1.VirtualMachine{ObjectMeta: w.meta(name)}
	w.reads(vm, want, func() []metav1.Condition { return vm.Status.Conditions })
	return vm
}

// providerAwaits does so for the ProviderConfig.
func (w *world) providerAwaits(want condition) *computev1.ProviderConfig {
	w.t.Helper()
	config := &computev1.ProviderConfig{ObjectMeta: w.meta(computev1.DefaultProviderConfig)}
	w.reads(config, want, func() []metav1.Condition { return config.Status.Conditions })
	return config
}

func (w *world) reads(object client.Object, want condition, conditions func() []metav1.Condition) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), interval, operator.Patience, true, func(ctx context.Context) (bool, error) {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		got := meta.FindStatusCondition(conditions(), want.kind)
		return got != nil && got.Status == want.status && got.Reason == want.reason &&
			got.ObservedGeneration == object.GetGeneration(), nil
	})
	if err != nil {
		w.t.Fatalf("waiting for %s=%s, %s, on %T %s: %v; it has\n%s",
			want.kind, want.status, want.reason, object, object.GetName(), err, shown(conditions()))
	}
	message := meta.FindStatusCondition(conditions(), want.kind).Message
	for _, word := range want.words {
		if !strings.Contains(message, word) {
			w.t.Errorf("%s of %T %s says %q, want it to say %q", want.kind, object, object.GetName(), message, word)
		}
	}
}

func shown(conditions []metav1.Condition) string {
	var text strings.Builder
	for _, c := range conditions {
		fmt.Fprintf(&text, "\t%s=%s, %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	return text.String()
}

// warned waits for the event that warns of what a condition says.
func (w *world) warned(kind, name string, want condition) {
	w.t.Helper()
	w.told(kind, name, corev1.EventTypeWarning, want.reason, want.words...)
}

// told waits for an event about an object, with these words in its note.
func (w *world) told(kind, name, eventType, reason string, words ...string) {
	w.t.Helper()
	var last []string
	err := wait.PollUntilContextTimeout(w.t.Context(), interval, operator.Patience, true, func(ctx context.Context) (bool, error) {
		events := w.events(ctx, kind, name)
		last = nil
		for i := range events {
			e := &events[i]
			last = append(last, fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Note))
			if e.Type == eventType && e.Reason == reason && hasAll(e.Note, words) {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		w.t.Fatalf("waiting for the event %s %s with %q on %s %s: %v; there are\n\t%s",
			eventType, reason, words, kind, name, err, strings.Join(last, "\n\t"))
	}
}

// events are those about an object.
func (w *world) events(ctx context.Context, kind, name string) []eventsv1.Event {
	var list eventsv1.EventList
	if err := kube.List(ctx, &list, client.InNamespace(w.namespace)); err != nil {
		return nil
	}
	var about []eventsv1.Event
	for i := range list.Items {
		if e := list.Items[i]; e.Regarding.Kind == kind && e.Regarding.Name == name {
			about = append(about, e)
		}
	}
	return about
}

func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
