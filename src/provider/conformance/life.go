package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/example/vmoperator/src/provider"
)

func lifeChecks() []Check {
	return []Check{
		{
			Name:  "minimum/running",
			Wants: "a VM that was ordered becomes Running",
			Where: openapi + "/components/schemas/VM/properties/phase",
			run:   becomesRunning,
		},
		{
			Name:  "minimum/delete",
			Wants: "DELETE /vms/{id} answers 204, or 202 while it takes time; when the VM is gone, GET says 404",
			Where: openapi + "/paths/~1vms~1{id}/delete",
			needs: []need{needHTTP}, run: deletesVM,
		},
		{
			Name:  "minimum/deleting",
			Wants: "a VM that is being deleted stays readable, as Deleting, until it is gone; and what is gone does not come back",
			Where: contract + "the-minimum-three-endpoints",
			run:   showsDeleting,
		},
		{
			Name:  "minimum/repeated-delete",
			Wants: "DELETE of a VM that is gone answers 404, or 204",
			Where: openapi + "/paths/~1vms~1{id}/delete",
			needs: []need{needHTTP}, run: deletesAgain,
		},
		{
			Name:  "minimum/unknown-id",
			Wants: "GET of an id that never was answers 404; so does DELETE, or 204",
			Where: openapi + "/paths/~1vms~1{id}/get",
			needs: []need{needHTTP}, run: knowsNoOther,
		},
	}
}

func becomesRunning(ctx context.Context, s *subject) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	return s.eventually(ctx, "Running", func() (bool, error) {
		shown, err := s.client.Get(ctx, made.ID)
		return err == nil && shown.Phase == provider.PhaseRunning, err
	})
}

func deletesVM(ctx context.Context, s *subject) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	answer, err := s.delete(ctx, made.ID)
	if err != nil {
		return err
	}
	if err := answer.want("DELETE /vms/{id}", http.StatusAccepted, http.StatusNoContent); err != nil {
		return err
	}
	return s.gone(ctx, made.ID)
}

func (s *subject) delete(ctx context.Context, id string) (answer, error) {
	return s.wire.do(ctx, request{method: http.MethodDelete, path: "/vms/" + id})
}

func showsDeleting(ctx context.Context, s *subject) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	if err := s.client.Delete(ctx, made.ID); err != nil {
		return fmt.Errorf("DELETE /vms/{id}: %w", err)
	}
	err = s.eventually(ctx, "gone after DELETE /vms/{id}", func() (bool, error) {
		shown, err := s.client.Get(ctx, made.ID)
		switch {
		case provider.ClassOf(err) == provider.NotFound:
			return true, nil
		case err == nil && shown.Phase != provider.PhaseDeleting:
			return false, errors.New("GET /vms/{id}: the phase is not Deleting after DELETE was accepted")
		}
		return false, err
	})
	if err != nil {
		return err
	}
	for range looks {
		if _, err := s.client.Get(ctx, made.ID); provider.ClassOf(err) != provider.NotFound {
			return errors.New("GET /vms/{id}: a VM that was gone is shown again")
		}
	}
	return nil
}

func deletesAgain(ctx context.Context, s *subject) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	if err := s.remove(ctx, made.ID); err != nil {
		return err
	}
	answer, err := s.delete(ctx, made.ID)
	if err != nil {
		return err
	}
	return answer.want("the second DELETE /vms/{id}", http.StatusNotFound, http.StatusNoContent)
}

func knowsNoOther(ctx context.Context, s *subject) error {
	id := s.unknownID()
	shown, err := s.wire.get(ctx, "/vms/"+id, nil)
	if err != nil {
		return err
	}
	deleted, err := s.delete(ctx, id)
	if err != nil {
		return err
	}
	return join(
		shown.want("GET of an unknown id", http.StatusNotFound),
		deleted.want("DELETE of an unknown id", http.StatusNotFound, http.StatusNoContent),
	)
}
