package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// Generous, for several packages' control planes may start at once on a machine with two cores.
	startTimeout = 2 * time.Minute
	stopTimeout  = 20 * time.Second
	pollInterval = 50 * time.Millisecond
	serviceRange = "10.0.0.0/16"
)

// controllers are the parts of kube-controller-manager that the operator's behaviour depends on. Others would only make
// objects that no test expects.
const (
	controllers = "garbage-collector-controller,namespace-controller,serviceaccount-controller"
	// workloadControllers make the Pods of Deployments. Without a scheduler and kubelets these stay Pending.
	workloadControllers = "deployment-controller,replicaset-controller"
)

// Options says what Start starts.
type Options struct {
	// AssetsDir holds the executables. Empty means: find them, or build them.
	AssetsDir string
	// CRDPaths are files, or folders of files, with CustomResourceDefinitions to install.
	CRDPaths []string
	// ControllerManager adds garbage collection by owner references and the deletion of namespaces.
	ControllerManager bool
	// Workloads adds the Pods of Deployments to ControllerManager. Nothing runs them.
	Workloads bool
	// DataDir keeps the objects when the control plane stops; the next one started on it has them again. Empty means
	// that they are gone with it.
	DataDir string
	// AuditLog is the path of a file that gets a line for every write: see ReadAuditLog. Empty means none.
	AuditLog string
	// AuditAll makes it a line for every request, reads included, without contents.
	AuditAll bool
	// Output gets what the components print, and how the search for executables goes. Nil means nowhere.
	Output io.Writer
}

// ControlPlane is a running Kubernetes control plane.
type ControlPlane struct {
	// Config belongs to a member of system:masters, and has no rate limit.
	Config *rest.Config

	assets  string
	guard   *guard
	output  *output
	servers *envtest.ControlPlane
	admin   *envtest.AuthenticatedUser
	manager *exec.Cmd
	users   sync.Mutex
	stop    sync.Once
	stopErr error
}

// Start returns when the control plane serves requests and the CRDs are established. The end of ctx ends the start, but
// not a control plane that has started: that is Stop's to do.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	assets, err := options.assets(ctx)
	if err != nil {
		return nil, err
	}
	guard, err := newGuard()
	if err != nil {
		return nil, err
	}
	plane := &ControlPlane{assets: assets, guard: guard, output: &output{next: options.Output}}
	// envtest's start knows no context, but it fails at once when its processes die.
	disarm := context.AfterFunc(ctx, func() { _ = plane.guard.life.Close() })
	defer disarm()
	if err := plane.start(ctx, options); err != nil {
		stopErr := plane.Stop()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("starting the control plane: %w", ctx.Err())
		}
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w\n%s", err, plane.output.tail()), stopErr)
	}
	return plane, nil
}

func (o Options) assets(ctx context.Context) (string, error) {
	needed := basicComponents
	if o.ControllerManager {
		needed = allComponents
	}
	if o.AssetsDir == "" {
		return find(ctx, o.Output, needed)
	}
	if missing := missingFrom(o.AssetsDir, needed); len(missing) > 0 {
		return "", fmt.Errorf("%s has no %v", o.AssetsDir, missing)
	}
	return filepath.Abs(o.AssetsDir)
}

func (c *ControlPlane) start(ctx context.Context, options Options) error {
	if err := c.startServers(options); err != nil {
		return err
	}
	admin, err := c.servers.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, &rest.Config{QPS: -1})
	if err != nil {
		return err
	}
	c.admin, c.Config = admin, admin.Config()
	if err := c.waitForDefaultNamespace(ctx); err != nil {
		return err
	}
	if len(options.CRDPaths) > 0 {
		if _, err := envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{
			Paths: options.CRDPaths, ErrorIfPathMissing: true, MaxTime: startTimeout, PollInterval: pollInterval,
		}); err != nil {
			return err
		}
	}
	if !options.ControllerManager {
		return nil
	}
	// Last, for the garbage collector learns of kinds that it did not meet at its start only half a minute later.
	return c.startControllerManager(options.Workloads)
}

func (c *ControlPlane) startServers(options Options) error {
	certificates, dataDir := filepath.Join(c.guard.dir, "certificates"), options.DataDir
	if dataDir == "" {
		dataDir = filepath.Join(c.guard.dir, "data")
	}
	for _, dir := range []string{certificates, dataDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	etcdPath, err := c.guard.starter(filepath.Join(c.assets, etcd))
	if err != nil {
		return err
	}
	apiServerPath, err := c.guard.starter(filepath.Join(c.assets, apiServer))
	if err != nil {
		return err
	}
	c.servers = &envtest.ControlPlane{
		Etcd: &envtest.Etcd{
			Path: etcdPath, DataDir: dataDir, Out: c.output, Err: c.output,
			StartTimeout: startTimeout, StopTimeout: stopTimeout,
		},
		APIServer: &envtest.APIServer{
			Path: apiServerPath, CertDir: certificates, Out: c.output, Err: c.output,
			StartTimeout: startTimeout, StopTimeout: stopTimeout,
		},
		KubectlPath: c.Kubectl(),
	}
	// envtest's own range has 254 addresses: too few for tests that make a Service for each of hundreds of VMs.
	c.servers.APIServer.Configure().Set("service-cluster-ip-range", serviceRange)
	if options.AuditLog != "" {
		if err := c.audit(options.AuditLog, options.AuditAll); err != nil {
			return err
		}
	}
	return c.servers.Start()
}

// waitForDefaultNamespace: kube-apiserver says that it is healthy before it has made the namespaces that all expect.
func (c *ControlPlane) waitForDefaultNamespace(ctx context.Context) error {
	reader, err := client.New(c.Config, client.Options{})
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, pollInterval, startTimeout, true, func(ctx context.Context) (bool, error) {
		last = reader.Get(ctx, types.NamespacedName{Name: "default"}, &corev1.Namespace{})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the default namespace: %w", errors.Join(err, last))
	}
	return nil
}

func (c *ControlPlane) startControllerManager(workloads bool) error {
	enabled := controllers
	if workloads {
		enabled += "," + workloadControllers
	}
	kubeconfig := filepath.Join(c.guard.dir, "kubeconfig")
	if err := c.WriteKubeconfig(kubeconfig); err != nil {
		return err
	}
	path, err := c.guard.starter(filepath.Join(c.assets, controllerManager))
	if err != nil {
		return err
	}
	//nolint:noctx // It lives until Stop, whatever becomes of the context of the start.
	c.manager = exec.Command(path,
		"--kubeconfig="+kubeconfig,
		"--controllers="+enabled,
		"--leader-elect=false",
		// It serves nothing that anyone here asks for, and a port can be taken.
		"--secure-port=0",
		// The default of 20 requests a second makes the deletion of a namespace with many objects the slowest step of a test.
		"--kube-api-qps=500", "--kube-api-burst=1000",
	)
	c.manager.Stdout, c.manager.Stderr = c.output, c.output
	c.manager.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.manager.Start(); err != nil {
		c.manager = nil
		return err
	}
	return nil
}

// WriteKubeconfig writes a file that gives kubectl, and all else that reads such files, the rights of Config.
func (c *ControlPlane) WriteKubeconfig(path string) error {
	text, err := c.admin.KubeConfig()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// AddUser returns the configuration of a user with no rights but those that RBAC gives to the name and the groups.
func (c *ControlPlane) AddUser(name string, groups ...string) (*rest.Config, error) {
	// envtest counts its certificates without a lock.
	c.users.Lock()
	defer c.users.Unlock()
	user, err := c.servers.AddUser(envtest.User{Name: name, Groups: groups}, &rest.Config{QPS: -1})
	if err != nil {
		return nil, err
	}
	return user.Config(), nil
}

// Kubectl returns the path of a kubectl that fits the control plane.
func (c *ControlPlane) Kubectl() string {
	return filepath.Join(c.assets, kubectl)
}

// Stop ends the control plane and removes what it left on the disk. It may be called more than once.
func (c *ControlPlane) Stop() error {
	c.stop.Do(func() {
		c.stopErr = errors.Join(c.stopControllerManager(), c.stopServers(), c.guard.end())
	})
	return c.stopErr
}

// stopControllerManager needs no patience: it keeps no state.
func (c *ControlPlane) stopControllerManager() error {
	if c.manager == nil {
		return nil
	}
	if err := c.manager.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = c.manager.Wait() // tells of the signal just sent
	c.guard.release(controllerManager)
	return nil
}

func (c *ControlPlane) stopServers() error {
	if c.servers == nil {
		return nil
	}
	if err := c.servers.Stop(); err != nil {
		return err
	}
	c.guard.release(apiServer, etcd)
	return nil
}
