//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until missing returns an empty string: it says what is missing.
func waitFor(t *testing.T, missing func(context.Context) string) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		last = missing(ctx)
		return last == "", nil
	})
	if err != nil {
		t.Fatalf("%v: %s", err, last)
	}
}

// helm runs a version of Helm, which is helm or helm3.
func helm(ctx context.Context, version string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program(version), args...).CombinedOutput()
	return string(out), err
}

// installed reports whether there is a release.
func installed(ctx context.Context, version, name, namespace string) bool {
	_, err := helm(ctx, version, "status", name, "--namespace="+namespace)
	return err == nil
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kubectl", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// newNamespace makes a namespace that admits nothing but what Pod Security
// `restricted` does. It goes with the test.
func newNamespace(t *testing.T, prefix string) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: prefix + "-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	must(t, kube.Create(t.Context(), made))
	t.Cleanup(func() {
		if err := deleteNamespace(context.WithoutCancel(t.Context()), made.Name); err != nil {
			t.Error(err)
		}
	})
	return made.Name
}

func namespaceNamed(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// deleteNamespace waits until it is gone: a namespace that sticks is a fault.
func deleteNamespace(ctx context.Context, name string) error {
	namespace := namespaceNamed(name)
	if err := client.IgnoreNotFound(kube.Delete(ctx, namespace)); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("waiting until the namespace %s is gone: %w: %+v", name, err, namespace.Status.Conditions)
	}
	return nil
}

// logOf is the end of a pod's log.
func logOf(ctx context.Context, namespace, pod string) (string, error) {
	lines := int64(60)
	content, err := clientset.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{TailLines: &lines}).DoRaw(ctx)
	return string(content), err
}

// stateOf is what a person would look at first in a namespace.
func stateOf(ctx context.Context, namespace string) string {
	var text strings.Builder
	var pods corev1.PodList
	if err := kube.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return err.Error()
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		fmt.Fprintf(&text, "pod %s: %s %+v\n", pod.Name, pod.Status.Phase, pod.Status.ContainerStatuses)
		content, err := logOf(ctx, namespace, pod.Name)
		if err != nil {
			content = err.Error()
		}
		fmt.Fprintln(&text, content)
	}
	return text.String()
}
