package system

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/test/controlplane"
)

const (
	// startPatience is for the first run, which may build the control plane.
	startPatience = 30 * time.Minute
	// parallel tests mostly wait, so a machine carries more of them than it has cores.
	parallel = "12"

	root = "../../.."
	crds = root + "/charts/vmoperator/files/crds"
	role = root + "/charts/vmoperator/files/rbac/role.yaml"

	rules = root + "/charts/vmoperator/files/rules/"

	// operatorUser is whom the operator is to the apiserver.
	operatorUser = "operator"
)

// What all tests share.
var (
	plane *controlplane.ControlPlane
	kube  client.Client
	// operatorConfig has the rights that are generated from the code, everywhere.
	operatorConfig *rest.Config
	executable     string
	auditLog       string
	seen           = evidence{texts: map[string]*text{}}
)

func TestMain(m *testing.M) {
	flag.Parse()
	// What a client of the tests' own logs is noise, and a logger that is missing is more of it.
	ctrl.SetLogger(logr.Discard())
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	status, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func runTests(m *testing.M) (status int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	dir, err := os.MkdirTemp("", "vmoperator-system-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := build(ctx, dir); err != nil {
		return 1, err
	}
	auditLog = filepath.Join(dir, "audit")
	plane, err = controlplane.Start(ctx, controlplane.Options{CRDPaths: []string{crds}, ControllerManager: true, AuditLog: auditLog})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := connect(ctx); err != nil {
		return 1, err
	}
	status = m.Run()
	return status, seen.check(context.Background())
}

// build makes the operator, once for all tests.
func build(ctx context.Context, dir string) error {
	executable = filepath.Join(dir, "vmoperator")
	args := append(append([]string{"build"}, buildFlags...), "-o", executable, "./src/cmd/manager")
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	return nil
}

// connect makes the tests' client, and the operator's user with its rights.
func connect(ctx context.Context) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), computev1.AddToScheme(scheme)); err != nil {
		return err
	}
	var err error
	if kube, err = client.New(plane.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if operatorConfig, err = plane.AddUser(operatorUser); err != nil {
		return err
	}
	// The file's first document; the second is about the operator's own namespace.
	rights, err := readRole(role)
	if err != nil {
		return err
	}
	// What the controllers of apps.example.io need beside.
	for _, app := range []string{"appautoscaler", "myapp"} {
		further, err := readRole(rules + app + ".yaml")
		if err != nil {
			return err
		}
		rights.Rules = append(rights.Rules, further.Rules...)
	}
	if err := kube.Create(ctx, rights); err != nil {
		return err
	}
	return kube.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: operatorUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: rights.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: operatorUser}},
	})
}

// readRole reads the first document of a file.
func readRole(path string) (*rbacv1.ClusterRole, error) {
	content, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	read := &rbacv1.ClusterRole{}
	if err := yaml.NewYAMLOrJSONDecoder(content, 4096).Decode(read); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return read, nil
}
