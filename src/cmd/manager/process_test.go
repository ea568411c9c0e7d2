package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/test/controlplane"
	"github.com/example/vmoperator/src/test/operator"
)

const (
	// startPatience is for the first run, which builds the control plane.
	startPatience = 30 * time.Minute
	// operatorEnv makes a copy of this test's executable be the operator: signals
	// and exit codes are a process's, and so it has the race detector as well.
	operatorEnv = "VMOPERATOR_TEST_PROCESS"
	crds        = "../../../charts/vmoperator/files/crds"
)

var (
	plane *controlplane.ControlPlane
	kube  client.Client
)

func TestMain(m *testing.M) {
	if os.Getenv(operatorEnv) != "" {
		main()
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	flag.Parse()
	// What a client of the tests' own logs is noise, and a logger that is missing is more of it.
	ctrl.SetLogger(logr.Discard())
	if !controlplane.Needed() {
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	var err error
	if plane, err = controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{crds}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	if kube, err = client.New(plane.Config, client.Options{Scheme: everything()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// everything is what the tests read and write.
func everything() *runtime.Scheme {
	scheme := newScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	return scheme
}

// startOperator runs the operator as a user until the test ends.
func startOperator(t *testing.T, config *rest.Config, args ...string) *operator.Operator {
	t.Helper()
	return operator.Start(t, operator.Options{
		Executable: os.Args[0], Environment: []string{operatorEnv + "=1"}, Config: config, Args: args,
	})
}

// runOperator runs the operator to its end.
func runOperator(t *testing.T, config *rest.Config, args ...string) (status int, stderr string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], append([]string{"--kubeconfig=" + operator.Kubeconfig(t, config), "--health-probe-bind-address=0"}, args...)...)
	command.Env = append(os.Environ(), operatorEnv+"=1")
	var out bytes.Buffer
	command.Stderr = &out
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String()
}
