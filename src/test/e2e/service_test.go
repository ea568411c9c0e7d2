//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// pythonPod is a pod that runs Python in the mock provider's image, as hardened as
// everything else.
func pythonPod(namespace, name string, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyNever,
			AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "python", Image: mockImage + ":" + version, Command: append([]string{"python"}, args...),
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// python starts a pod that runs Python.
func python(t *testing.T, namespace, name string, args ...string) *corev1.Pod {
	t.Helper()
	pod := pythonPod(namespace, name, args...)
	must(t, kube.Create(t.Context(), pod))
	return pod
}

// reaches waits until a pod is in a phase.
func reaches(t *testing.T, pod *corev1.Pod, phase corev1.PodPhase) {
	t.Helper()
	waitFor(t, func(ctx context.Context) string {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err.Error()
		}
		if pod.Status.Phase == corev1.PodFailed && phase != corev1.PodFailed {
			content, err := logOf(ctx, pod.Namespace, pod.Name)
			t.Fatalf("the pod %s has failed: %s %v", pod.Name, content, err)
		}
		if pod.Status.Phase == phase {
			return ""
		}
		return fmt.Sprintf("the pod %s is %s", pod.Name, pod.Status.Phase)
	})
}

// A pod stands for the VM: what listens at the address that the provider reports.
func TestAPodReachesAVMThroughItsService(t *testing.T) {
	t.Parallel()
	listener := python(t, newNamespace(t, "e2e-machine"), "machine", "-m", "http.server", "8022", "--directory", "/app")
	reaches(t, listener, corev1.PodRunning)
	r := install(t, "mock-provider.vmAddresses={"+listener.Status.PodIP+"}")
	r.vm("web", func(vm *computev1.VirtualMachine) {
		vm.Spec.Service = &computev1.VirtualMachineService{
			Ports: []computev1.VirtualMachinePort{{Name: "http", Port: 80, TargetPort: 8022}},
		}
	})
	r.running("web")
	// The cluster's proxy learns of the Service at its own time.
	reader := python(t, r.watched[0], "reader", "-c", `
import time, urllib.request
for attempt in range(60):
    try:
        print(urllib.request.urlopen("http://web/", timeout=5).status)
        break
    except OSError as problem:
        print(problem)
        time.sleep(1)
else:
    raise SystemExit("the VM was not reached")
`)
	reaches(t, reader, corev1.PodSucceeded)
}
