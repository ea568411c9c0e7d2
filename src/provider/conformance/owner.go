package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/example/vmoperator/src/provider"
)

func ownerChecks() []Check {
	return []Check{{
		Name:  "owner/labels",
		Wants: "labels of POST /vms are returned on all reads: by id, in the list, and by key",
		Where: openapi + "/components/schemas/Labels",
		needs: []need{needOwner}, run: returnsLabels,
	}}
}

func returnsLabels(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, key = s.fresh()
	request.Labels = map[string]string{
		"compute.example.com/name": request.Name, "compute.example.com/uid": "5f2c6b1e-0000-4000-8000-000000000000", "empty": "",
	}
	made, err := s.createAs(ctx, key, request)
	if err != nil {
		return err
	}
	shown, err := s.client.Get(ctx, made.ID)
	if err != nil {
		return fmt.Errorf("GET /vms/{id}: %w", err)
	}
	if !maps.Equal(shown.Labels, request.Labels) {
		return errors.New("GET /vms/{id}: the labels are not those of the order")
	}
	if !s.capabilities.Has(provider.CapabilityList) {
		return nil
	}
	if err := s.settled(ctx, time.Now()); err != nil {
		return err
	}
	return join(s.listsLabels(ctx, made.ID, request.Labels), s.findsLabels(ctx, key, request.Labels))
}

func (s *subject) listsLabels(ctx context.Context, id string, labels map[string]string) error {
	all, err := list(ctx, s)
	if err != nil {
		return fmt.Errorf("GET /vms: %w", err)
	}
	for i := range all {
		if all[i].ID == id && !maps.Equal(all[i].Labels, labels) {
			return errors.New("GET /vms: the labels are not those of the order")
		}
	}
	return nil
}

func (s *subject) findsLabels(ctx context.Context, key string, labels map[string]string) error {
	if !s.capabilities.Has(provider.CapabilityIdempotency) {
		return nil
	}
	found, err := s.client.FindByKey(ctx, key)
	if err != nil {
		return fmt.Errorf("GET /vms?key=: %w", err)
	}
	if !maps.Equal(found.Labels, labels) {
		return errors.New("GET /vms?key=: the labels are not those of the order")
	}
	return nil
}
