// Package conformance is what every provider.Client must do, whatever stands
// behind it.
package conformance

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example/vmoperator/src/provider"
)

// patience is how long a VM may take to become Running, and to be gone.
const patience = time.Minute

// order is what the suite has made.
var order = provider.CreateRequest{Name: "conformance", Image: "ubuntu-24.04", CPU: 1, Memory: "1Gi"}

// Run makes and deletes VMs at the provider of a client. Each test gets a client
// of its own. What a provider does not offer is skipped.
func Run(t *testing.T, client func(*testing.T) provider.Client) {
	t.Helper()
	t.Run("a VM is made, becomes Running and is gone when it is deleted", func(t *testing.T) { lifecycle(t, client(t)) })
	t.Run("a repeated create key makes one VM", func(t *testing.T) { repeat(t, client(t)) })
	t.Run("a create key is spent with its VM", func(t *testing.T) { spent(t, client(t)) })
	t.Run("a VM is found by its key and in the list", func(t *testing.T) { find(t, client(t)) })
	t.Run("a VM is resized", func(t *testing.T) { resize(t, client(t)) })
	t.Run("labels are returned", func(t *testing.T) { owner(t, client(t)) })
	t.Run("an unknown VM is not found", func(t *testing.T) { unknown(t, client(t)) })
}

func lifecycle(t *testing.T, client provider.Client) {
	t.Helper()
	made := create(t, client, order)
	if made.Image != order.Image {
		t.Errorf("image %q, want %q", made.Image, order.Image)
	}
	eventually(t, "Running", func() bool {
		shown, err := client.Get(t.Context(), made.ID)
		return err == nil && shown.Phase == provider.PhaseRunning
	})
	remove(t, client, made.ID)
}

func repeat(t *testing.T, client provider.Client) {
	t.Helper()
	needs(t, client, provider.CapabilityIdempotency)
	key := newKey(t)
	first, err := client.Create(t.Context(), key, order)
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.Create(t.Context(), key, order)
	if err != nil || again.ID != first.ID {
		t.Errorf("the repeat returned %q and %v, want %q", again.ID, err, first.ID)
	}
	other := order
	other.Image = "debian-13"
	_, err = client.Create(t.Context(), key, other)
	// The wire has one status for this and for a request that is refused.
	if class := provider.ClassOf(err); class != provider.Conflict && class != provider.Rejected {
		t.Errorf("another request under the key: %v, want Conflict or Rejected", err)
	}
	remove(t, client, first.ID)
}

func spent(t *testing.T, client provider.Client) {
	t.Helper()
	needs(t, client, provider.CapabilityIdempotency)
	key := newKey(t)
	made, err := client.Create(t.Context(), key, order)
	if err != nil {
		t.Fatal(err)
	}
	remove(t, client, made.ID)
	if again, err := client.Create(t.Context(), key, order); provider.ClassOf(err) != provider.NotFound {
		t.Errorf("the key of a deleted VM made %q, error %v", again.ID, err)
	}
}

func find(t *testing.T, client provider.Client) {
	t.Helper()
	needs(t, client, provider.CapabilityList)
	needs(t, client, provider.CapabilityIdempotency)
	key := newKey(t)
	if _, err := client.FindByKey(t.Context(), key); provider.ClassOf(err) != provider.NotFound {
		t.Errorf("a new key: %v, want NotFound", err)
	}
	made, err := client.Create(t.Context(), key, order)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "found by its key", func() bool {
		found, err := client.FindByKey(t.Context(), key)
		return err == nil && found.ID == made.ID
	})
	listed := 0
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := client.List(t.Context(), cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, machine := range page.Items {
			if machine.ID == made.ID {
				listed++
			}
		}
		cursor = page.Next
	}
	if listed != 1 {
		t.Errorf("listed %d times, want once", listed)
	}
	remove(t, client, made.ID)
}

func resize(t *testing.T, client provider.Client) {
	t.Helper()
	needs(t, client, provider.CapabilityResize)
	made := create(t, client, order)
	if _, err := client.Resize(t.Context(), made.ID, provider.Size{CPU: 2, Memory: "2Gi"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "resized", func() bool {
		shown, err := client.Get(t.Context(), made.ID)
		return err == nil && shown.CPU == 2 && shown.Memory == "2Gi"
	})
	remove(t, client, made.ID)
}

func owner(t *testing.T, client provider.Client) {
	t.Helper()
	needs(t, client, provider.CapabilityOwner)
	labelled := order
	labelled.Labels = map[string]string{"compute.example.com/name": "conformance"}
	made := create(t, client, labelled)
	if made.Labels["compute.example.com/name"] != "conformance" {
		t.Errorf("labels %v", made.Labels)
	}
	remove(t, client, made.ID)
}

func unknown(t *testing.T, client provider.Client) {
	t.Helper()
	if _, err := client.Get(t.Context(), "no-such-vm"); provider.ClassOf(err) != provider.NotFound {
		t.Errorf("reading: %v, want NotFound", err)
	}
	// A provider of the minimum may say that it is gone, which is true.
	if err := client.Delete(t.Context(), "no-such-vm"); err != nil && provider.ClassOf(err) != provider.NotFound {
		t.Errorf("deleting: %v, want NotFound or none", err)
	}
}

func needs(t *testing.T, client provider.Client, capability string) {
	t.Helper()
	capabilities, err := client.Capabilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !capabilities.Has(capability) {
		t.Skipf("the provider does not offer %s", capability)
	}
}

func create(t *testing.T, client provider.Client, request provider.CreateRequest) provider.Machine {
	t.Helper()
	made, err := client.Create(t.Context(), newKey(t), request)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func remove(t *testing.T, client provider.Client, id string) {
	t.Helper()
	if err := client.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "gone", func() bool {
		_, err := client.Get(t.Context(), id)
		return provider.ClassOf(err) == provider.NotFound
	})
}

// newKey is one that no run used before.
func newKey(t *testing.T) string {
	t.Helper()
	_, id := provider.WithRequestID(t.Context())
	return "conformance-" + id + "/1"
}

func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true,
		wait.ConditionFunc(func() (bool, error) { return reached(), nil }).WithContext())
	if err != nil {
		t.Fatalf("the VM is not %s: %v", what, err)
	}
}
