package generated

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
	"github.com/example/vmoperator/src/test/crdschema"
)

const (
	// SeedVariable names the seed of what is random, in the environment.
	SeedVariable = "VMOPERATOR_SEED"

	startPatience = 30 * time.Minute
)

var (
	plane  *controlplane.ControlPlane
	kube   client.Client
	scheme = runtime.NewScheme()
	seed   int
	logs   buffer
	// schemas are those of the kinds.
	machines, configs *crdschema.Schema
)

func TestMain(m *testing.M) {
	flag.Parse()
	status, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func runTests(m *testing.M) (status int, err error) {
	if !controlplane.Needed() {
		return m.Run(), nil
	}
	seed = rand.IntN(1_000_000) //nolint:gosec // it guards nothing
	if given := os.Getenv(SeedVariable); given != "" {
		if seed, err = strconv.Atoi(given); err != nil {
			return 1, fmt.Errorf("%s: %w", SeedVariable, err)
		}
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(&logs)))
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	plane, err = controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{"../../../charts/vmoperator/files/crds"}})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := connect(); err != nil {
		return 1, err
	}
	if status = m.Run(); status != 0 {
		fmt.Fprintf(os.Stderr, "to try the same again: %s=%d\n", SeedVariable, seed)
	}
	return status, nil
}

func connect() (err error) {
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), computev1.AddToScheme(scheme)); err != nil {
		return err
	}
	if machines, err = crdschema.Load(crdschema.VirtualMachines); err != nil {
		return err
	}
	if configs, err = crdschema.Load(crdschema.ProviderConfigs); err != nil {
		return err
	}
	kube, err = client.New(plane.Config, client.Options{Scheme: scheme})
	return err
}

// buffer is a log.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
