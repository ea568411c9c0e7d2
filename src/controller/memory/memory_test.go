package memory_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/controller/memory"
)

func object(uid string) client.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "order-service", UID: types.UID(uid)}}
}

func TestAnObjectIsRememberedUntilItIsGoneOrMadeAnew(t *testing.T) {
	var all memory.Of[int]
	begin := func() *int { return new(1) }
	*all.Recall(object("a"), begin) = 2
	if got := *all.Recall(object("a"), begin); got != 2 {
		t.Errorf("remembered %d, want what was there", got)
	}
	if got := *all.Recall(object("b"), begin); got != 1 {
		t.Errorf("one that was made anew has %d, want a beginning", got)
	}
	*all.Recall(object("b"), begin) = 3
	all.Forget(client.ObjectKeyFromObject(object("b")))
	if got := *all.Recall(object("b"), begin); got != 1 {
		t.Errorf("one that was forgotten has %d, want a beginning", got)
	}
}
