package conformance

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example/vmoperator/src/provider"
)

func resizeChecks() []Check {
	return []Check{
		{
			Name:  "resize/both",
			Wants: "PATCH /vms/{id} changes cpu and memory, and reads show it",
			Where: openapi + "/paths/~1vms~1{id}/patch",
			needs: []need{needResize}, run: resizes,
		},
		{
			Name:  "resize/one",
			Wants: "what is absent from PATCH /vms/{id} stays as it is",
			Where: openapi + "/paths/~1vms~1{id}/patch",
			needs: []need{needHTTP, needResize}, run: resizesOne,
		},
		{
			Name:  "resize/unknown-id",
			Wants: "PATCH of an id that never was answers 404",
			Where: openapi + "/paths/~1vms~1{id}/patch",
			needs: []need{needHTTP, needResize}, run: resizesNoOther,
		},
	}
}

// doubled is twice the size of the VMs that are made.
func (s *subject) doubled() (provider.Size, error) {
	memory, err := resource.ParseQuantity(s.order.Memory)
	if err != nil {
		return provider.Size{}, fmt.Errorf("the memory that is ordered: %w", err)
	}
	memory.Add(memory)
	return provider.Size{CPU: s.order.CPU * 2, Memory: memory.String()}, nil
}

func resizes(ctx context.Context, s *subject) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	size, err := s.doubled()
	if err != nil {
		return err
	}
	if _, err := s.client.Resize(ctx, made.ID, size); err != nil {
		return fmt.Errorf("PATCH /vms/{id}: %w", err)
	}
	return s.sized(ctx, made.ID, size)
}

// sized waits until reads show a size.
func (s *subject) sized(ctx context.Context, id string, size provider.Size) error {
	want, err := resource.ParseQuantity(size.Memory)
	if err != nil {
		return fmt.Errorf("the memory that is wanted: %w", err)
	}
	return s.eventually(ctx, fmt.Sprintf("shown with cpu %d and memory %s", size.CPU, size.Memory), func() (bool, error) {
		shown, err := s.client.Get(ctx, id)
		if err != nil {
			return false, err
		}
		memory, err := resource.ParseQuantity(shown.Memory)
		// Memory that is not told is not the memory that is wanted.
		return err == nil && shown.CPU == size.CPU && memory.Cmp(want) == 0, nil
	})
}

func resizesOne(ctx context.Context, s *subject) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	size, err := s.doubled()
	if err != nil {
		return err
	}
	if _, err := s.client.Resize(ctx, made.ID, size); err != nil {
		return fmt.Errorf("PATCH /vms/{id}: %w", err)
	}
	before, err := s.client.Get(ctx, made.ID)
	if err != nil {
		return fmt.Errorf("GET /vms/{id}: %w", err)
	}
	answer, err := s.wire.do(ctx, request{
		method: http.MethodPatch, path: "/vms/" + made.ID, body: fmt.Appendf(nil, `{"cpu": %d}`, s.order.CPU),
	})
	if err != nil {
		return err
	}
	if err := answer.want("PATCH /vms/{id} with cpu alone", http.StatusOK); err != nil {
		return err
	}
	return s.sized(ctx, made.ID, provider.Size{CPU: s.order.CPU, Memory: before.Memory})
}

func resizesNoOther(ctx context.Context, s *subject) error {
	answer, err := s.wire.do(ctx, request{
		method: http.MethodPatch, path: "/vms/" + s.unknownID(), body: []byte(`{"cpu": 1}`),
	})
	if err != nil {
		return err
	}
	return answer.want("PATCH of an unknown id", http.StatusNotFound)
}
