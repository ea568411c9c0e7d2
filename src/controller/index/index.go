// Package index names the cache's indexes, so that who writes one and who reads
// it cannot disagree.
package index

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	// ProviderRef finds the VirtualMachines of a ProviderConfig by its name. It is
	// also the selectable field of the same meaning, but for one difference: here
	// an empty providerRef is found under "default".
	ProviderRef = "spec.providerRef"
	// ProviderSecrets finds the ProviderConfigs that refer to a Secret by its name.
	ProviderSecrets = "spec.secretNames"
	// Finalizers finds the Secrets that carry CredentialsFinalizer, under that name.
	Finalizers = "metadata.finalizers"
	// DeploymentName finds the AppAutoscalers that are for a Deployment by its name.
	DeploymentName = "spec.deploymentName"
	// ScaledDeployment finds the HorizontalPodAutoscalers of a Deployment by its name.
	ScaledDeployment = "spec.scaleTargetRef.name"
)

// definition is one index.
type definition struct {
	object  client.Object
	field   string
	extract client.IndexerFunc
}

// Register adds the indexes of the kinds of compute.example.com to a manager's
// cache. It must be called once, before the manager starts and before any of
// their controllers is set up.
func Register(ctx context.Context, indexer client.FieldIndexer) error {
	return register(ctx, indexer,
		definition{&computev1.VirtualMachine{}, ProviderRef, byProvider},
		definition{&computev1.ProviderConfig{}, ProviderSecrets, bySecrets},
		definition{&corev1.Secret{}, Finalizers, byFinalizer},
	)
}

// RegisterApps does the same for the kinds of apps.example.io.
func RegisterApps(ctx context.Context, indexer client.FieldIndexer) error {
	return register(ctx, indexer,
		definition{&exampleappsv1.AppAutoscaler{}, DeploymentName, byDeployment},
		definition{&autoscalingv2.HorizontalPodAutoscaler{}, ScaledDeployment, DeploymentsOf},
	)
}

func register(ctx context.Context, indexer client.FieldIndexer, definitions ...definition) error {
	for _, index := range definitions {
		if err := indexer.IndexField(ctx, index.object, index.field, index.extract); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", index.object, index.field, err)
		}
	}
	return nil
}

func byProvider(object client.Object) []string {
	vm, ok := object.(*computev1.VirtualMachine)
	if !ok {
		return nil
	}
	return []string{vm.ProviderConfigName()}
}

func bySecrets(object client.Object) []string {
	config, ok := object.(*computev1.ProviderConfig)
	if !ok {
		return nil
	}
	return SecretNames(config)
}

func byDeployment(object client.Object) []string {
	autoscaler, ok := object.(*exampleappsv1.AppAutoscaler)
	if !ok {
		return nil
	}
	return []string{autoscaler.Spec.DeploymentName}
}

// DeploymentsOf are the names of the Deployments that a HorizontalPodAutoscaler
// scales: one or none.
func DeploymentsOf(object client.Object) []string {
	scaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return nil
	}
	target := scaler.Spec.ScaleTargetRef
	group, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil || group.Group != appsv1.GroupName || target.Kind != "Deployment" {
		return nil
	}
	return []string{target.Name}
}

// Most Secrets in the cache are connection Secrets, one for each VM: an index of
// the few others is what makes a look for them cheap.
func byFinalizer(object client.Object) []string {
	if controllerutil.ContainsFinalizer(object, computev1.CredentialsFinalizer) {
		return []string{computev1.CredentialsFinalizer}
	}
	return nil
}

// SecretNames are the Secrets that a ProviderConfig refers to, each once.
func SecretNames(config *computev1.ProviderConfig) []string {
	var names []string
	if ref := config.Spec.SecretRef; ref != nil {
		names = append(names, ref.Name)
	}
	if tls := config.Spec.TLS; tls != nil && tls.CASecretRef != nil && (len(names) == 0 || names[0] != tls.CASecretRef.Name) {
		names = append(names, tls.CASecretRef.Name)
	}
	return names
}
