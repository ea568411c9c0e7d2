//go:build e2e

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

const (
	root      = "../../.."
	chart     = root + "/charts/vmoperator"
	mockChart = chart + "/charts/mock-provider"

	image     = "registry.example.com/vmoperator"
	mockImage = "registry.example.com/vmoperator-mock-provider"
	// version is the chart's appVersion, which is the tag of both images.
	version = "v0.1.0"

	// patience is how long anything may take on a loaded machine.
	patience = 4 * time.Minute
	interval = 200 * time.Millisecond
	// parallel tests mostly wait for pods.
	parallel = "4"
)

// What all tests share.
var (
	kube      client.Client
	clientset *kubernetes.Clientset
	config    *rest.Config
)

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(zap.New())
	ctx := context.Background()
	if err := prepare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	status := m.Run()
	if err := errors.Join(removeCRDs(ctx), rightsOfAll()); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		status = 1
	}
	os.Exit(status)
}

// rightsOfAll checks the rights where all tests have run, and an audit log says what
// they have used.
func rightsOfAll() error {
	switch {
	case flag.Lookup("test.run").Value.String() != "":
		fmt.Println("Rights are not checked: only all tests together use each of them.")
		return nil
	case os.Getenv("E2E_AUDIT_LOG") == "":
		fmt.Println("Rights are not checked: E2E_AUDIT_LOG names no audit log.")
		return nil
	}
	return checkRights()
}

func prepare(ctx context.Context) error {
	return errors.Join(
		flag.Set("test.parallel", parallel),
		connect(),
		buildImage(ctx, image+":"+version, root),
		buildImage(ctx, mockImage+":"+version, root+"/mockprovider"),
	)
}

// program is the path of a program that the Makefile builds.
func program(name string) string {
	path, err := filepath.Abs(filepath.Join(root, "bin", name))
	if err != nil {
		return err.Error()
	}
	return path
}

func connect() error {
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		return errors.New("KUBECONFIG must name a cluster for tests: see make e2e")
	}
	var err error
	if config, err = clientcmd.BuildConfigFromFlags("", path); err != nil {
		return fmt.Errorf("reading KUBECONFIG: %w", err)
	}
	// The tests are many clients in one.
	config.QPS = -1
	scheme := runtime.NewScheme()
	err = errors.Join(clientgoscheme.AddToScheme(scheme), computev1.AddToScheme(scheme),
		exampleappsv1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme))
	if err != nil {
		return err
	}
	if clientset, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	kube, err = client.New(config, client.Options{Scheme: scheme})
	return err
}

// buildImage builds the Dockerfile of a folder, and brings the image to the nodes.
func buildImage(ctx context.Context, tag, dir string) error {
	command := strings.Fields(os.Getenv("E2E_IMAGE"))
	if len(command) == 0 {
		return errors.New("E2E_IMAGE must be a command that builds an image and loads it into the cluster: see make e2e")
	}
	started := time.Now()
	out, err := exec.CommandContext(ctx, command[0], append(command[1:], tag, dir)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building %s: %w\n%s", tag, err, out)
	}
	fmt.Printf("%s is built and loaded in %s\n", tag, time.Since(started).Round(time.Second))
	return nil
}
