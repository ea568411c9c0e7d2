package main

import (
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

// podUIDVariable is where a pod finds its UID.
const podUIDVariable = "POD_UID"

// podLock is the leader's lock of a process in a pod, and nil for one that is in
// none. Its identity is the pod's, not the process's: a container is started again
// only when the one before has ended, so the next process need not wait until the
// lease of the last one has run out.
func podLock(kube *rest.Config, o options, home string) (resourcelock.Interface, error) {
	uid := os.Getenv(podUIDVariable)
	if uid == "" || !o.leaderElection.enabled {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("finding the pod's name: %w", err)
	}
	config := rest.AddUserAgent(kube, "leader-election")
	// One request that hangs must not lose the lead.
	config.Timeout = max(o.leaderElection.renewDeadline/2, time.Second)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the Kubernetes API: %w", err)
	}
	identity := host + "_" + uid
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events(home)})
	return resourcelock.New(resourcelock.LeasesResourceLock, home, leaderElectionID, client.CoreV1(), client.CoordinationV1(),
		resourcelock.ResourceLockConfig{
			Identity: identity, EventRecorder: broadcaster.NewRecorder(newScheme(), corev1.EventSource{Component: identity}),
		})
}
