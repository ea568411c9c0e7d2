package condition_test

import (
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/example/vmoperator/src/controller/condition"
)

func TestAConditionWithoutAStatusIsRemoved(t *testing.T) {
	all := []metav1.Condition{{Type: "Stalled", Status: metav1.ConditionTrue, Reason: "Refused"}}
	condition.Set(&all, metav1.Condition{Type: "Stalled"})
	if len(all) != 0 {
		t.Errorf("left: %v", all)
	}
}

func TestAConditionIsNewsWhenItsStatusOrReasonIs(t *testing.T) {
	ready := func(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
		return []metav1.Condition{{Type: "Ready", Status: status, Reason: reason, Message: message}}
	}
	was := ready(metav1.ConditionFalse, "Progressing", "1 of 5")
	for name, test := range map[string]struct {
		before, after []metav1.Condition
		news          bool
	}{
		"first":      {nil, was, true},
		"gone":       {was, nil, false},
		"same":       {was, was, false},
		"message":    {was, ready(metav1.ConditionFalse, "Progressing", "2 of 5"), false},
		"the reason": {was, ready(metav1.ConditionFalse, "ImagePullBackOff", ""), true},
		"the status": {was, ready(metav1.ConditionTrue, "Progressing", ""), true},
	} {
		if got := condition.Turned(test.before, test.after, "Ready") != nil; got != test.news {
			t.Errorf("%s: %t, want %t", name, got, test.news)
		}
	}
}

func TestALongMessageIsShortenedBetweenCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.StringN(0, 2000, 4000).Draw(t, "message")
		short := condition.Shorten(message)
		if len(short) > 1024 || !utf8.ValidString(short) && utf8.ValidString(message) {
			t.Errorf("%d bytes: %q", len(short), short)
		}
		if len(message) <= 1000 && short != message {
			t.Errorf("changed: %q to %q", message, short)
		}
	})
}
