//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// release is the chart, installed.
type release struct {
	*provider

	t         *testing.T
	name      string
	namespace string
	// watched are the namespaces whose VirtualMachines it works on.
	watched []string
	values  []string
	// chart is where it is installed from, and helm by which version.
	chart, helm string
}

// newRelease is the chart, not installed yet, for a namespace of its own, to watch
// another one. What it makes goes with the test, in the documented order.
func newRelease(t *testing.T, values ...string) *release {
	t.Helper()
	needCRDs(t)
	r := &release{
		t: t, namespace: newNamespace(t, "e2e-system"), watched: []string{newNamespace(t, "e2e-vms")}, chart: chart, helm: "helm",
	}
	// Names of the cluster's objects begin with it.
	r.name = r.namespace
	r.provider = &provider{t: t, namespace: r.namespace, service: r.name + "-mock-provider"}
	r.values = append([]string{"crds.enabled=false", "watchNamespaces={" + r.watched[0] + "}"}, values...)
	t.Cleanup(r.remove)
	return r
}

// withMock lets a release have a mock provider of its own.
var withMock = []string{"mock-provider.enabled=true", "mock-provider.provisionSeconds=1"}

// install installs the chart with a mock provider of its own.
func install(t *testing.T, values ...string) *release {
	t.Helper()
	r := newRelease(t, slices.Concat(withMock, values)...)
	r.upgrade()
	return r
}

// installAt installs the chart, to work with a provider that outlives it.
func installAt(t *testing.T, p *provider, values ...string) *release {
	t.Helper()
	r := newRelease(t, append([]string{"provider.defaultEndpoint=" + p.endpoint()}, values...)...)
	r.provider = p
	r.upgrade()
	return r
}

// run runs a command of Helm about the release, and waits for what it does.
func (r *release) run(ctx context.Context, args ...string) (string, error) {
	return helm(ctx, r.helm, append(args, "--namespace="+r.namespace, "--timeout="+patience.String())...)
}

// try installs the release, or changes it, and returns what Helm says.
func (r *release) try(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"upgrade", "--install", r.name, r.chart}, args...)
	for _, value := range r.values {
		args = append(args, "--set="+value)
	}
	return r.run(ctx, args...)
}

// upgrade installs the release, or changes it to further values, and waits until
// its pods are ready.
func (r *release) upgrade(values ...string) {
	r.t.Helper()
	r.values = append(r.values, values...)
	if out, err := r.try(r.t.Context(), "--wait"); err != nil {
		r.t.Fatalf("helm upgrade --install: %v\n%s\n%s", err, out, stateOf(r.t.Context(), r.namespace))
	}
}

func (r *release) uninstall() {
	r.t.Helper()
	if out, err := r.run(r.t.Context(), "uninstall", r.name, "--wait"); err != nil {
		r.t.Fatalf("helm uninstall: %v\n%s", err, out)
	}
}

// remove leaves nothing: the VMs go first, while somebody is there to delete them.
func (r *release) remove() {
	ctx := context.WithoutCancel(r.t.Context())
	if r.t.Failed() {
		r.t.Log(stateOf(ctx, r.namespace))
	}
	if !installed(ctx, r.helm, r.name, r.namespace) {
		return
	}
	for _, namespace := range r.watched {
		if err := deleteObjects(ctx, namespace); err != nil {
			r.t.Error(err)
		}
	}
	if out, err := r.run(ctx, "uninstall", r.name, "--wait"); err != nil {
		r.t.Errorf("helm uninstall: %v\n%s", err, out)
	}
}

// operatorPods are the names of the operator's pods that are not being deleted.
func (r *release) operatorPods(ctx context.Context) ([]string, error) {
	var pods corev1.PodList
	err := kube.List(ctx, &pods, client.InNamespace(r.namespace), client.MatchingLabels{"app.kubernetes.io/component": "controller-manager"})
	var names []string
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			names = append(names, pods.Items[i].Name)
		}
	}
	slices.Sort(names)
	return names, err
}

// says waits until a pod of the operator has a line in its log with all the words.
func (r *release) says(words ...string) {
	r.t.Helper()
	waitFor(r.t, func(ctx context.Context) string {
		pods, err := r.operatorPods(ctx)
		if err != nil {
			return err.Error()
		}
		for _, pod := range pods {
			content, err := logOf(ctx, r.namespace, pod)
			if err != nil {
				return err.Error()
			}
			for line := range strings.Lines(content) {
				if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
					return ""
				}
			}
		}
		return "no pod says " + strings.Join(words, " ... ")
	})
}
