package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Where make builds what is measured.
const (
	operatorBinary = "bin/vmoperator"
	handbookBinary = "bin/handbook"
)

const (
	ourName      = "vmoperator"
	operatorUser = "vmoperator"
)

// ours is the operator as it is shipped: with the controllers and the workers that
// it has by default. All that is set is what a place needs, and flags that make a
// steady state short.
func ours(flags ...string) *contender {
	return &contender{
		name: ourName, user: operatorUser, probes: true, counts: true, children: true, rounds: steadyRounds,
		//nolint:noctx // It is stopped with patience, also when a context has ended.
		command: func(at place) *exec.Cmd {
			return exec.Command(operatorBinary, append([]string{
				"--kubeconfig=" + at.kubeconfig, "--watch-namespaces=" + at.namespace,
				"--allow-endpoint-cidrs=127.0.0.0/8",
				"--health-probe-bind-address=" + at.health, "--metrics-bind-address=" + at.metrics,
			}, flags...)...)
		},
	}
}

// autoscaling is the operator that looks at settled AppAutoscalers this often.
func autoscaling(resync time.Duration) *contender {
	return ours("--resync-interval=" + resync.String())
}

// handbook is the handbook's operator with a number of workers. What is settled is
// the same to it with one worker and with more: it is watched for a while with one.
func handbook(workers int) *contender {
	rounds := 0
	if workers == 1 {
		rounds = 1
	}
	return &contender{
		name: fmt.Sprintf("handbook-%d", workers), user: fmt.Sprintf("handbook-%d", workers), counts: true, children: true, rounds: rounds,
		//nolint:noctx // It is stopped with patience, also when a context has ended.
		command: func(at place) *exec.Cmd {
			return exec.Command(handbookBinary,
				"--kubeconfig="+at.kubeconfig, "--namespace="+at.namespace, fmt.Sprintf("--max-concurrent-reconciles=%d", workers),
				"--health-probe-bind-address="+at.health, "--metrics-bind-address="+at.metrics,
			)
		},
	}
}

// other is whatever the user of the bench wants to see beside ours: a command for
// the shell. It learns from its environment where it works.
func other(command string) *contender {
	return &contender{
		name: "other", user: "other", rounds: 1,
		//nolint:noctx // It is stopped with patience, also when a context has ended.
		command: func(at place) *exec.Cmd {
			// The shell gives its process to the command, so that what is measured and
			// stopped is the command.
			cmd := exec.Command("/bin/sh", "-c", "exec "+strings.TrimSpace(command))
			cmd.Env = append(os.Environ(), "KUBECONFIG="+at.kubeconfig, "NAMESPACE="+at.namespace, "PROVIDER_URL="+at.provider,
				"HEALTH_ADDRESS="+at.health, "METRICS_ADDRESS="+at.metrics)
			return cmd
		},
	}
}
