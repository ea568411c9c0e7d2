//go:build e2e

package e2e

import (
	"context"
	_ "embed"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// outage is how long the Kubernetes API is out of the operator's reach: longer than
// a leader stays the leader, and than a connection is taken for alive.
const outage = time.Minute

//go:embed relay.py
var relayScript string

// relay stands between an operator and the Kubernetes API. The API itself goes on,
// so that other tests do as well, and Deployments can be damaged meanwhile.
type relay struct {
	t   *testing.T
	pod *corev1.Pod
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	pod := pythonPod(newNamespace(t, "e2e-relay"), "relay", "-c", relayScript)
	pod.Spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}}
	must(t, kube.Create(t.Context(), pod))
	reaches(t, pod, corev1.PodRunning)
	return &relay{t: t, pod: pod}
}

// values lead an operator to the relay, which it takes for the API: it has a name
// that the API's certificate is for.
func (y *relay) values() []string {
	const host = "kubernetes.default.svc"
	return []string{
		"hostAliases[0].ip=" + y.pod.Status.PodIP, "hostAliases[0].hostnames={" + host + "}",
		"extraEnv[0].name=KUBERNETES_SERVICE_HOST", "extraEnv[0].value=" + host,
	}
}

func (y *relay) signal(name string) {
	y.t.Helper()
	kubectl(y.t, "exec", "--namespace="+y.pod.Namespace, y.pod.Name, "--", "python", "-c", "import os, signal; os.kill(1, signal."+name+")")
}

// cut keeps the API out of reach for a time.
func (y *relay) cut(meanwhile func(), length time.Duration) (ended time.Time) {
	y.t.Helper()
	y.signal("SIGUSR1")
	over := time.NewTimer(length)
	defer over.Stop()
	meanwhile()
	select {
	case <-over.C:
	case <-y.t.Context().Done():
	}
	ended = time.Now()
	y.signal("SIGUSR2")
	return ended
}

func TestAfterAMinuteWithoutTheAPIAllIsPutRight(t *testing.T) {
	t.Parallel()
	relay := newRelay(t)
	r := installForOrders(t, relay.values()...)
	autoscaler := r.orders()
	r.pods(orderService, 5)
	film := filmDeployment(t, r.watched[0], orderService)
	app := "shop"
	ended := relay.cut(func() {
		r.kubectl("scale", "deployment/"+orderService, "--replicas=2")
		r.kubectl("set", "image", "deployment/"+orderService, orderService+"="+noImage)
		r.shop(1)
	}, outage)
	if left := film.since(0); left[len(left)-1].is(declares(5, orderImage)) {
		t.Fatal("the operator has reached the API all the same")
	}
	film.rightAfter("after the outage: replicas and image back", ended, declares(5, orderImage))
	r.tells(autoscaler, "ReplicasPutBack", "replicas 2 -> 5, set by kubectl via scale")
	r.pods(app, 1)
	t.Logf("drill: after the outage: what was made meanwhile runs after %.1f s", time.Since(ended).Seconds())
	r.pods(orderService, 5)
	t.Logf("drill: the operator's containers were restarted %s", r.restarts())
}

// rightAfter waits until the object is right after a time, and holds that to the
// bound.
func (f *film[T]) rightAfter(what string, since time.Time, right func(T) bool) {
	f.t.Helper()
	waitFor(f.t, func(context.Context) string {
		for _, shown := range f.since(0) {
			if shown.at.After(since) && shown.is(right) {
				f.recovered(what, shown.at.Sub(since))
				return ""
			}
		}
		return what + ": not yet"
	})
}

// restarts are how often the operator's containers were restarted, and why last.
func (r *release) restarts() string {
	r.t.Helper()
	var pods corev1.PodList
	must(r.t, kube.List(r.t.Context(), &pods, client.InNamespace(r.namespace), client.MatchingLabels{"app.kubernetes.io/component": "controller-manager"}))
	text := ""
	for i := range pods.Items {
		for _, status := range pods.Items[i].Status.ContainerStatuses {
			text += fmt.Sprintf("%d times ", status.RestartCount)
			if last := status.LastTerminationState.Terminated; last != nil {
				text += fmt.Sprintf("(last ended with %d, %s)", last.ExitCode, last.Reason)
			}
		}
	}
	return text
}
