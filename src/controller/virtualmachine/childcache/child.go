// Package childcache holds of each child of a VirtualMachine no more than it takes
// to tell whether it is as it should be: whose it is, and a digest of what of it is
// ours. Ten thousand VirtualMachines have thirty thousand children, and an informer
// would hold each as a whole.
package childcache

import (
	"crypto/sha256"
	"strings"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is a kind of children.
type Kind uint8

// The kinds of children.
const (
	Secrets Kind = iota
	Services
	EndpointSlices
)

// KindOf is the kind of an object, which must be a Secret, a Service or an
// EndpointSlice.
func KindOf(object client.Object) Kind {
	switch object.(type) {
	case *corev1.Secret:
		return Secrets
	case *corev1.Service:
		return Services
	default:
		return EndpointSlices
	}
}

// Digest stands for a text: two that differ do not have the same.
type Digest [16]byte

// DigestOf is the digest of a text.
func DigestOf(text []byte) Digest {
	sum := sha256.Sum256(text)
	return Digest(sum[:len(Digest{})])
}

// Child is what is known of one object.
type Child struct {
	// Owner is the name of its controller, and OwnerUID the digest of the UID. Both are
	// empty where it has none.
	Owner    string
	OwnerUID Digest
	// Content is the digest of what of it is ours.
	Content Digest
	// Terminating is true once it is to be deleted.
	Terminating bool
}

// IsOf reports whether the child's controller has this UID.
func (c Child) IsOf(uid types.UID) bool { return c.OwnerUID == DigestOf([]byte(uid)) }

// childOf is what is kept of an object.
func childOf(object client.Object, content func(client.Object) Digest) Child {
	child := Child{Content: content(object), Terminating: !object.GetDeletionTimestamp().IsZero()}
	if controller := metav1.GetControllerOf(object); controller != nil {
		child.Owner, child.OwnerUID = controller.Name, DigestOf([]byte(controller.UID))
	}
	return child
}

// kept is an object's key, and what is kept of it, in as few strings as there can
// be: a child's name mostly begins with its owner's.
func kept(object client.Object, content func(client.Object) Digest) (types.NamespacedName, Child) {
	child := childOf(object, content)
	key := types.NamespacedName{Namespace: unique.Make(object.GetNamespace()).Value(), Name: object.GetName()}
	if strings.HasPrefix(key.Name, child.Owner) {
		child.Owner = key.Name[:len(child.Owner)]
	}
	return key, child
}
