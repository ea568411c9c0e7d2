package providerconfig

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// EnsureDefault creates the ProviderConfig "default" where there is none, once,
// when the manager starts to lead. It never changes one that exists, and does not
// bring back one that a person deletes later. The right to create it is no marker,
// for those are for every installation: the chart gives it where it sets the flag.
type EnsureDefault struct {
	// Client writes.
	Client client.Writer
	// Namespaces are where to create it.
	Namespaces []string
	// Endpoint is its spec.endpoint.
	Endpoint string
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (e *EnsureDefault) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. It does not fail: a namespace that cannot be
// written to must not stop the manager. It is tried again until ctx ends.
func (e *EnsureDefault) Start(ctx context.Context) error {
	pending := e.Namespaces
	backoff := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: jitter, Steps: 10, Cap: time.Minute}
	attempt := func(ctx context.Context) (bool, error) {
		var failed []string
		for _, namespace := range pending {
			if err := e.create(ctx, namespace); err != nil {
				log.FromContext(ctx).Error(err, "cannot create the default ProviderConfig", "namespace", namespace)
				failed = append(failed, namespace)
			}
		}
		pending = failed
		return len(pending) == 0, nil
	}
	// The only error is the end of ctx, which is no failure.
	_ = backoff.DelayFunc().Until(ctx, true, true, attempt)
	return nil
}

func (e *EnsureDefault) create(ctx context.Context, namespace string) error {
	config := &computev1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: computev1.DefaultProviderConfig},
		Spec:       computev1.ProviderConfigSpec{Endpoint: e.Endpoint},
	}
	err := e.Client.Create(ctx, config, client.FieldOwner(computev1.FieldOwner))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
