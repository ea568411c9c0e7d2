package podtrouble

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestAContainersTroubleHasOneNameWhileItLasts(t *testing.T) {
	t.Parallel()
	waiting := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	ended := func(code int32, reason string, ready bool) corev1.ContainerStatus {
		return corev1.ContainerStatus{Ready: ready, LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason},
		}}
	}
	for name, test := range map[string]struct {
		status corev1.ContainerStatus
		want   string
	}{
		"a container that runs has none":                       {corev1.ContainerStatus{Ready: true}, ""},
		"a container that is being created has none":           {waiting("ContainerCreating"), ""},
		"an image that is tried is one that is not pulled":     {waiting("ErrImagePull"), "ImagePullBackOff"},
		"an image that is not pulled":                          {waiting("ImagePullBackOff"), "ImagePullBackOff"},
		"a setting that cannot be read":                        {waiting("CreateContainerConfigError"), "CreateContainerConfigError"},
		"a container that runs again, but not yet ready":       {ended(1, "Error", false), "CrashLoopBackOff"},
		"a container that had too little memory":               {ended(137, "OOMKilled", false), "OOMKilled"},
		"a container that has recovered has none":              {ended(1, "Error", true), ""},
		"a container that ended well and starts anew has none": {ended(0, "Completed", false), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ofContainer(&test.status); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAReasonIsFitForACondition(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"Unschedulable": "Unschedulable", "Not ready: 3": "Notready3", "_x_": "x", "9lives": "lives", "...": "", "Größe": "Gre",
		strings.Repeat("x", 500): strings.Repeat("x", maxReason),
	} {
		if got := newTrouble(reason, "").Reason; got != want {
			t.Errorf("of %q is made %q, want %q", reason, got, want)
		}
	}
}
