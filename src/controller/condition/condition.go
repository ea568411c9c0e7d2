// Package condition sets conditions, and finds those that tell news.
package condition

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Set sets a condition, its message shortened, or removes one that has no status.
func Set(all *[]metav1.Condition, condition metav1.Condition) {
	if condition.Status == "" {
		meta.RemoveStatusCondition(all, condition.Type)
		return
	}
	condition.Message = Shorten(condition.Message)
	meta.SetStatusCondition(all, condition)
}

// Turned is a condition whose status or reason is new; nil if it is not.
func Turned(before, after []metav1.Condition, conditionType string) *metav1.Condition {
	now, was := meta.FindStatusCondition(after, conditionType), meta.FindStatusCondition(before, conditionType)
	if now == nil || (was != nil && was.Status == now.Status && was.Reason == now.Reason) {
		return nil
	}
	return now
}

// maxMessage leaves room for the dots in the 1024 bytes that the API accepts of an
// event's note; a condition's message may be longer.
const maxMessage = 1000

// Shorten cuts a message, between two characters, to what a condition and an event
// can hold.
func Shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "..."
}
