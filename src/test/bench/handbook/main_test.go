package main

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/bench/vmprovider"
	"github.com/example/vmoperator/src/test/builders"
	"github.com/example/vmoperator/src/test/controlplane"
	"github.com/example/vmoperator/src/test/operator"
)

const (
	// startPatience is for the first run, which builds the control plane.
	startPatience = 30 * time.Minute
	// operatorEnv makes a copy of this test's executable be the operator.
	operatorEnv = "HANDBOOK_TEST_PROCESS"
	crds        = "../../../../charts/vmoperator/files/crds"
)

var (
	plane *controlplane.ControlPlane
	kube  client.Client
)

func TestMain(m *testing.M) {
	if os.Getenv(operatorEnv) != "" {
		main()
		return
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	flag.Parse()
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
	if kube, err = client.New(plane.Config, client.Options{Scheme: scheme}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// start starts a provider, and the handbook's operator in a namespace of its own
// with a ProviderConfig for it.
func start(t *testing.T, options vmprovider.Options) (namespace string, vms *vmprovider.Provider) {
	t.Helper()
	options.APIKey = "a key"
	vms = vmprovider.New(options)
	server := httptest.NewServer(vms.Handler())
	t.Cleanup(server.Close)
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "handbook-"}}
	create(t, made)
	namespace = made.Name
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "key"},
		StringData: map[string]string{computev1.APIKeyKey: options.APIKey},
	})
	create(t, builders.ProviderConfig(namespace, computev1.DefaultProviderConfig, server.URL, func(config *computev1.ProviderConfig) {
		config.Spec.SecretRef = &computev1.SecretReference{Name: "key"}
	}))
	operator.Start(t, operator.Options{
		Executable: os.Args[0], Environment: []string{operatorEnv + "=1"}, Config: plane.Config,
		Args: []string{"--namespace=" + namespace},
	})
	return namespace, vms
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func TestAVMIsMadeRunsHasChildrenAndIsDeleted(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]vmprovider.Options{
		"at once":       {},
		"after a while": {Provision: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, vms := start(t, options)
			vm := builders.VirtualMachine(namespace, "web")
			create(t, vm)
			key := client.ObjectKeyFromObject(vm)
			operator.WaitFor(t, "the VM to be Ready", func(ctx context.Context) bool {
				err := kube.Get(ctx, key, vm)
				return err == nil && meta.IsStatusConditionTrue(vm.Status.Conditions, computev1.ConditionReady)
			})
			if vm.Status.ID == "" || vm.Status.Phase != phaseRunning {
				t.Errorf("%+v", vm.Status)
			}
			wantChildren(t, vm)
			if err := kube.Delete(t.Context(), vm); err != nil {
				t.Fatal(err)
			}
			operator.WaitFor(t, "the object to go", func(ctx context.Context) bool {
				return apierrors.IsNotFound(kube.Get(ctx, key, vm))
			})
			// That it makes just one is not what the handbook promises.
			if stats := vms.Stats(); stats.VMs != stats.Calls[provider.OperationCreate]-1 {
				t.Errorf("%+v", stats)
			}
		})
	}
}

func wantChildren(t *testing.T, vm *computev1.VirtualMachine) {
	t.Helper()
	secret, service := &corev1.Secret{}, &corev1.Service{}
	if err := kube.Get(t.Context(), types.NamespacedName{Namespace: vm.Namespace, Name: vm.Name + "-connection"}, secret); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"id": []byte(vm.Status.ID)}, secret.Data); diff != "" {
		t.Error(diff)
	}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(vm), service); err != nil {
		t.Fatal(err)
	}
	if got := service.Spec.Ports; len(got) != 1 || got[0].Name != "ssh" || got[0].Port != 22 {
		t.Errorf("%+v", got)
	}
	for _, child := range []client.Object{secret, service} {
		if !metav1.IsControlledBy(child, vm) {
			t.Errorf("%s is not the VM's", child.GetName())
		}
	}
}
