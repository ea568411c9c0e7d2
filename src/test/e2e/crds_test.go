//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crdsRelease installs the CRDs and nothing that runs: the releases of the tests
// come and go.
const crdsRelease = "vmoperator-crds"

var installCRDs = sync.OnceValue(func() error {
	out, err := helm(context.Background(), "helm", "upgrade", "--install", crdsRelease, chart, "--namespace="+crdsRelease, "--create-namespace",
		"--set=replicas=0", "--set=crds.keep=true", "--timeout="+patience.String(), "--wait")
	if err != nil {
		return fmt.Errorf("installing the CRDs: %w\n%s", err, out)
	}
	return nil
})

func needCRDs(t *testing.T) {
	t.Helper()
	must(t, installCRDs())
}

// ourCRDs are the cluster's.
func ourCRDs(ctx context.Context) ([]apiextensionsv1.CustomResourceDefinition, error) {
	var list apiextensionsv1.CustomResourceDefinitionList
	err := kube.List(ctx, &list)
	var ours []apiextensionsv1.CustomResourceDefinition
	for _, crd := range list.Items {
		if strings.HasSuffix(crd.Spec.Group, ".example.com") || strings.HasSuffix(crd.Spec.Group, ".example.io") {
			ours = append(ours, crd)
		}
	}
	return ours, err
}

// removeCRDs ends crdsRelease. Helm keeps the CRDs, as it must for people who have
// VirtualMachines; here none is left.
func removeCRDs(ctx context.Context) error {
	if !installed(ctx, "helm", crdsRelease, crdsRelease) {
		return nil
	}
	if out, err := helm(ctx, "helm", "uninstall", crdsRelease, "--namespace="+crdsRelease, "--wait"); err != nil {
		return fmt.Errorf("uninstalling the CRDs' release: %w\n%s", err, out)
	}
	crds, err := ourCRDs(ctx)
	if err != nil {
		return err
	}
	if len(crds) == 0 {
		return errors.New("helm uninstall has deleted CRDs that are to be kept")
	}
	for i := range crds {
		if err := client.IgnoreNotFound(kube.Delete(ctx, &crds[i])); err != nil {
			return err
		}
	}
	err = wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		left, err := ourCRDs(ctx)
		return len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting until the CRDs are gone: %w", err)
	}
	return deleteNamespace(ctx, crdsRelease)
}
