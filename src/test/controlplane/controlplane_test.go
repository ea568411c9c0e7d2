package controlplane_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/vmoperator/src/test/controlplane"
)

// patience is for a loaded machine; what is waited for takes a second or two.
const patience = 2 * time.Minute

func TestControlPlane(t *testing.T) {
	auditLog := filepath.Join(t.TempDir(), "audit")
	plane := start(t, controlplane.Options{ControllerManager: true, AuditLog: auditLog})
	c := newClient(t, plane)

	t.Run("a write is audited with what it wrote, unless that is a Secret", func(t *testing.T) {
		create(t, c, configMap("default", "audited-map"))
		create(t, c, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "audited-secret"}, StringData: map[string]string{"key": "unheard-of"}})
		bodies := map[string]int{}
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
			events, err := controlplane.ReadAuditLog(auditLog)
			for i := range events {
				if events[i].RequestObject == nil {
					bodies[events[i].ObjectRef.Name] = 0
				} else {
					bodies[events[i].ObjectRef.Name] = len(events[i].RequestObject.Raw)
				}
			}
			_, seen := bodies["audited-secret"]
			return seen, err
		})
		if err != nil || bodies["audited-map"] == 0 || bodies["audited-secret"] != 0 {
			t.Errorf("bytes logged: %v, %v", bodies, err)
		}
	})

	t.Run("an object goes when its owner is deleted", func(t *testing.T) {
		owner := configMap("default", "owner")
		create(t, c, owner)
		owned := configMap("default", "owned")
		owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
		create(t, c, owned)

		if err := c.Delete(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
		waitUntilGone(t, c, owned)
	})

	t.Run("a namespace goes with all that is in it", func(t *testing.T) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short-lived"}}
		create(t, c, namespace)
		inside := configMap(namespace.Name, "inside")
		create(t, c, inside)

		if err := c.Delete(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		waitUntilGone(t, c, inside)
		waitUntilGone(t, c, namespace)
	})

	t.Run("a user has no rights that nobody gave", func(t *testing.T) {
		config, err := plane.AddUser("nobody-in-particular")
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := client.New(config, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := stranger.List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
			t.Errorf("listing Secrets: got %v, want Forbidden", err)
		}
	})

	t.Run("kubectl works with the kubeconfig", func(t *testing.T) {
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		if err := plane.WriteKubeconfig(kubeconfig); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), plane.Kubectl(), "--kubeconfig", kubeconfig, "get", "namespace", "default", "-o", "name").CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "namespace/default" {
			t.Errorf("got %q, %v", out, err)
		}
	})
}

func TestObjectsOutliveTheControlPlaneInADataDir(t *testing.T) {
	options := controlplane.Options{DataDir: t.TempDir()}
	kept := configMap("default", "kept")

	plane := start(t, options)
	create(t, newClient(t, plane), kept)
	if err := plane.Stop(); err != nil {
		t.Fatal(err)
	}

	if err := newClient(t, start(t, options)).Get(t.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
		t.Error(err)
	}
}

func TestCRDsAreInstalled(t *testing.T) {
	plane := start(t, controlplane.Options{CRDPaths: []string{"testdata/crd.yaml"}})
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "example.org/v1", Kind: "PairList"}}
	if err := newClient(t, plane).List(t.Context(), list); err != nil {
		t.Error(err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := controlplane.Start(ctx, controlplane.Options{AssetsDir: assets(t)}); err == nil {
		t.Error("started, although nobody waits any more")
	}
}

// holderEnv makes a copy of this test's executable hold a control plane until it is killed.
const holderEnv = "CONTROL_PLANE_HOLDER_KUBECONFIG"

func TestNothingOutlivesAKilledProcess(t *testing.T) {
	if kubeconfig := os.Getenv(holderEnv); kubeconfig != "" {
		plane := start(t, controlplane.Options{ControllerManager: true})
		if err := plane.WriteKubeconfig(kubeconfig); err != nil {
			t.Fatal(err)
		}
		select {}
	}

	// All that the holder starts keeps its files here, and runs with this path among its arguments.
	temp := t.TempDir()
	kubeconfig := filepath.Join(temp, "kubeconfig")
	holder := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	holder.Env = append(os.Environ(), holderEnv+"="+kubeconfig, "TMPDIR="+temp)
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Process.Kill() })
	waitFor(t, "the holder to start", func(context.Context) bool {
		text, err := os.ReadFile(kubeconfig)
		return err == nil && len(text) > 0
	})
	if running := countProcesses(t.Context(), t, temp); running < 3 {
		t.Fatalf("found %d processes, want etcd, kube-apiserver and kube-controller-manager", running)
	}

	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // tells of the signal just sent
	waitFor(t, "the processes to end", func(ctx context.Context) bool { return countProcesses(ctx, t, temp) == 0 })
	waitFor(t, "the files to go", func(context.Context) bool {
		left, err := filepath.Glob(filepath.Join(temp, "vmoperator-control-plane-*"))
		return err == nil && len(left) == 0
	})
}

// countProcesses returns how many processes have text among their arguments.
func countProcesses(ctx context.Context, t *testing.T, text string) int {
	t.Helper()
	out, err := exec.CommandContext(ctx, "ps", "-A", "-ww", "-o", "args=").Output()
	if err != nil {
		t.Fatalf("counting processes needs ps, of the package procps: %v", err)
	}
	return strings.Count(string(out), text+"/vmoperator-control-plane-")
}

func assets(t *testing.T) string {
	t.Helper()
	dir, err := controlplane.CompleteAssets(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t *testing.T, options controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	options.AssetsDir = assets(t)
	plane, err := controlplane.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return plane
}

func newClient(t *testing.T, plane *controlplane.ControlPlane) client.Client {
	t.Helper()
	c, err := client.New(plane.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func create(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func waitUntilGone(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	waitFor(t, object.GetName()+" to go", func(ctx context.Context) bool {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(object), object))
	})
}

func waitFor(t *testing.T, what string, condition func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		return condition(ctx), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
