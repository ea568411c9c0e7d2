package scope

import (
	"context"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// review asks whether a namespace may be read. Watched means yes.
func (s *Scope) review(ctx context.Context, namespace string) (state State, why string) {
	for _, read := range s.options.Reads {
		for _, verb := range []string{"list", "watch"} {
			if why := s.refusal(ctx, namespace, read, verb); why != "" {
				return Refused, why
			}
		}
	}
	if namespace != "" {
		return Watched, ""
	}
	return s.reviewOthers(ctx)
}

// refusal says why a read is not possible; it is empty if it is.
func (s *Scope) refusal(ctx context.Context, namespace string, read authorizationv1.ResourceAttributes, verb string) string {
	read.Namespace, read.Verb = namespace, verb
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &read}}
	answer, err := s.options.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	switch {
	case err != nil:
		return fmt.Sprintf("the access review failed: %v", err)
	case answer.Status.Allowed:
		return ""
	}
	resource := read.Resource
	if read.Group != "" {
		resource += "." + read.Group
	}
	return fmt.Sprintf("no right to %s %s", verb, resource)
}

// reviewOthers looks for claims of other releases in all namespaces. A release
// that watches single namespaces may not look here in turn: of two that overlap,
// it is the one that watches all that gives way.
func (s *Scope) reviewOthers(ctx context.Context) (state State, why string) {
	leases, err := s.options.Client.CoordinationV1().Leases("").List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", LeaseName).String(),
	})
	if apierrors.IsForbidden(err) {
		// Whoever withholds this right gives up the check, not the operator.
		return Watched, ""
	}
	if err != nil {
		return Refused, fmt.Sprintf("looking for claims of other releases: %v", err)
	}
	for i := range leases.Items {
		if lease := &leases.Items[i]; s.isForeign(lease) {
			return Foreign, fmt.Sprintf("release %s works in namespace %s", *lease.Spec.HolderIdentity, lease.Namespace)
		}
	}
	return Watched, ""
}

// isForeign trusts the clocks of this machine and of the other release's, unlike
// a claim, which only compares what it sees itself.
func (s *Scope) isForeign(lease *coordinationv1.Lease) bool {
	holder, renewed, seconds := lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds
	if holder == nil || renewed == nil || seconds == nil || *holder == "" || *holder == s.options.Identity {
		return false
	}
	return time.Now().Before(renewed.Add(time.Duration(*seconds) * time.Second))
}
