package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

var safeID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$`)

func minimumChecks() []Check {
	return []Check{
		{
			Name:  "minimum/create",
			Wants: "POST /vms answers 201, or 200, with the VM as JSON: id, image and phase at least",
			Where: openapi + "/paths/~1vms/post",
			needs: []need{needHTTP}, run: createsVM,
		},
		{
			Name:  "minimum/safe-id",
			Wants: "an id is safe in a URL's path: letters, digits, '.', '_' and '-', beginning with a letter or a digit, 253 characters at most",
			Where: openapi + "/components/schemas/ID",
			needs: []need{needHTTP}, run: hasSafeID,
		},
		{
			Name:  "minimum/own-id",
			Wants: "an id names one VM for ever: VMs of one name have different ids, and the id of a deleted VM is not given to another",
			Where: openapi + "/components/schemas/ID",
			run:   hasOwnID,
		},
		{
			Name:  "minimum/read",
			Wants: "GET /vms/{id} answers 200 with the VM as JSON, with the id and the image that it was made with",
			Where: openapi + "/paths/~1vms~1{id}/get",
			needs: []need{needHTTP}, run: readsVM,
		},
		{
			Name:  "minimum/read-after-write",
			Wants: "reads show a VM when settleSeconds are over since its creation was answered",
			Where: openapi + "/components/schemas/Capabilities/properties/settleSeconds",
			run:   readsAfterWrite,
		},
		{
			Name:  "minimum/fields",
			Wants: "cpu, memory, addresses and name, where they are told, have the type that the contract says and the value that was ordered",
			Where: openapi + "/components/schemas/VM",
			needs: []need{needHTTP}, run: tellsFields,
		},
		{
			Name:  "minimum/memory",
			Wants: "memory is a Kubernetes quantity, in whatever notation: 1Gi, 1024Mi and 1073741824 are the same",
			Where: openapi + "/components/schemas/Memory",
			needs: []need{needHTTP}, run: understandsMemory,
		},
		{
			Name:  "minimum/unknown-fields",
			Wants: "fields that the provider does not know are ignored",
			Where: openapi + "/components/schemas/Order",
			needs: []need{needHTTP}, run: ignoresFields,
		},
	}
}

func createsVM(ctx context.Context, s *subject) error {
	answer, err := s.orderWith(ctx, nil)
	if err != nil {
		return err
	}
	return wantVM("POST /vms", answer, s.order.Image, http.StatusOK, http.StatusCreated)
}

// orderWith posts a VM with fields changed or added.
func (s *subject) orderWith(ctx context.Context, fields map[string]any) (answer, error) {
	name, key := s.fresh()
	body, err := s.body(name, fields)
	if err != nil {
		return answer{}, err
	}
	return s.send(ctx, key, body, nil)
}

func wantVM(what string, answer answer, image string, statuses ...int) error {
	if err := answer.want(what, statuses...); err != nil {
		return err
	}
	vm := answer.vm()
	switch {
	case answer.media() != "application/json":
		return fmt.Errorf("%s: the media type is not application/json", what)
	case vm.ID == "":
		return fmt.Errorf("%s: the answer is no VM with a string id", what)
	case vm.Image != image:
		return fmt.Errorf("%s: image is not the one that was ordered", what)
	case vm.Phase == "" || len([]rune(vm.Phase)) > 64:
		return fmt.Errorf("%s: phase is not a string of 1 to 64 characters", what)
	}
	return nil
}

func hasSafeID(ctx context.Context, s *subject) error {
	answer, err := s.orderWith(ctx, nil)
	if err != nil {
		return err
	}
	if answer.succeeded() && !safeID.MatchString(answer.vm().ID) {
		return errors.New("POST /vms: the id is not safe in a URL's path")
	}
	return nil
}

func hasOwnID(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, _ = s.fresh()
	ids := map[string]bool{}
	for i := range 3 {
		_, key = s.fresh()
		made, err := s.createAs(ctx, key, request)
		if err != nil {
			return err
		}
		if ids[made.ID] {
			return fmt.Errorf("POST /vms: VM number %d has the id of one before", i+1)
		}
		ids[made.ID] = true
		if i == 1 {
			// The third is made when an id has become free.
			if err := s.remove(ctx, made.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func readsVM(ctx context.Context, s *subject) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	answer, err := s.wire.get(ctx, "/vms/"+made.ID, nil)
	if err != nil {
		return err
	}
	if err := wantVM("GET /vms/{id}", answer, s.order.Image, http.StatusOK); err != nil {
		return err
	}
	if answer.vm().ID != made.ID {
		return errors.New("GET /vms/{id}: the VM has another id than the one that was asked for")
	}
	return nil
}

func readsAfterWrite(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, key = s.fresh()
	made, err := s.post(ctx, key, request)
	if err != nil {
		return fmt.Errorf("POST /vms: %w", err)
	}
	if !s.discovered {
		// It has no way to say for how long it may not be shown.
		return s.visible(ctx, made.ID)
	}
	if err := s.settled(ctx, time.Now()); err != nil {
		return err
	}
	if _, err := s.client.Get(ctx, made.ID); err != nil {
		return fmt.Errorf("GET /vms/{id}, %s after the creation was answered: %w", s.capabilities.Settle, err)
	}
	return nil
}

func tellsFields(ctx context.Context, s *subject) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	answer, err := s.wire.get(ctx, "/vms/"+made.ID, nil)
	if err != nil {
		return err
	}
	var told map[string]json.RawMessage
	if err := json.Unmarshal(answer.body, &told); err != nil {
		return errors.New("GET /vms/{id}: the answer is no JSON object")
	}
	var problems []error
	for field, wrong := range map[string]func(json.RawMessage) bool{
		"cpu":       func(value json.RawMessage) bool { return string(value) != strconv.Itoa(int(s.order.CPU)) },
		"memory":    func(value json.RawMessage) bool { return !sameMemory(value, s.order.Memory) },
		"addresses": func(value json.RawMessage) bool { return !areAddresses(value) },
		"name":      func(value json.RawMessage) bool { return json.Unmarshal(value, new(string)) != nil },
	} {
		if value, isTold := told[field]; isTold && wrong(value) {
			problems = append(problems, fmt.Errorf("GET /vms/{id}: %s has another type or value than it must", field))
		}
	}
	return join(problems...)
}

func sameMemory(value json.RawMessage, ordered string) bool {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return false
	}
	told, err := resource.ParseQuantity(text)
	want, wantErr := resource.ParseQuantity(ordered)
	return err == nil && wantErr == nil && told.Cmp(want) == 0
}

func areAddresses(value json.RawMessage) bool {
	var texts []string
	if json.Unmarshal(value, &texts) != nil {
		return false
	}
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err != nil || address.Zone() != "" {
			return false
		}
	}
	return true
}

func understandsMemory(ctx context.Context, s *subject) error {
	ordered, err := resource.ParseQuantity(s.order.Memory)
	if err != nil {
		return fmt.Errorf("the memory that is ordered: %w", err)
	}
	bytes := ordered.Value()
	for _, notation := range []string{strconv.FormatInt(bytes>>20, 10) + "Mi", strconv.FormatInt(bytes, 10)} {
		answer, err := s.orderWith(ctx, map[string]any{"memory": notation})
		if err != nil {
			return err
		}
		if !answer.succeeded() {
			return fmt.Errorf("POST /vms with memory %q: status %d", notation, answer.status)
		}
		var told map[string]json.RawMessage
		if err := json.Unmarshal(answer.body, &told); err != nil {
			return errors.New("POST /vms: the answer is no JSON object")
		}
		if value, isTold := told["memory"]; isTold && !sameMemory(value, s.order.Memory) {
			return fmt.Errorf("POST /vms with memory %q: the VM tells another amount", notation)
		}
	}
	return nil
}

func ignoresFields(ctx context.Context, s *subject) error {
	answer, err := s.orderWith(ctx, map[string]any{"conformanceUnknown": map[string]any{"a": []int{1}}})
	if err != nil {
		return err
	}
	if !answer.succeeded() {
		return fmt.Errorf("POST /vms with an unknown field: status %d", answer.status)
	}
	return nil
}
