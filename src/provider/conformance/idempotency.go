package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/example/vmoperator/src/provider"
)

const (
	// callers is how many send one key at once.
	callers = 8
	// lost is how many answers are not waited for.
	lost = 3
)

func idempotencyChecks() []Check {
	needs := []need{needHTTP, needIdempotency}
	return []Check{
		{
			Name:  "idempotency/same-key",
			Wants: "a repeat with the same key and body answers with the same VM, and makes no other",
			Where: openapi + "/paths/~1vms/post",
			needs: []need{needIdempotency}, run: repeatsKey,
		},
		{
			Name:  "idempotency/same-json",
			Wants: "bodies are the same when their parsed JSON is equal, however it is written",
			Where: openapi + "/paths/~1vms/post",
			needs: needs, run: comparesJSON,
		},
		{
			Name:  "idempotency/at-once",
			Wants: "one key makes one VM, concurrent requests included",
			Where: openapi + "/paths/~1vms/post",
			needs: []need{needIdempotency}, run: repeatsAtOnce,
		},
		{
			Name:  "idempotency/lost-answer",
			Wants: "one key makes one VM, also when the client went away before the answer and repeats",
			Where: contract + "what-a-provider-of-the-minimum-costs-its-users",
			needs: needs, run: repeatsLost,
		},
		{
			Name:  "idempotency/other-body",
			Wants: "the same key with another body answers 422, and the VM stays as it is",
			Where: openapi + "/paths/~1vms/post",
			needs: needs, run: refusesOtherBody,
		},
		{
			Name:  "idempotency/spent-key",
			Wants: "the key of a VM that was deleted answers 410, whatever the body",
			Where: openapi + "/components/responses/Gone",
			needs: needs, run: spendsKey,
		},
	}
}

func repeatsKey(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, key = s.fresh()
	first, err := s.createAs(ctx, key, request)
	if err != nil {
		return err
	}
	for range looks {
		again, err := s.post(ctx, key, request)
		if err != nil {
			return fmt.Errorf("the repeat: %w", err)
		}
		if again.ID != first.ID {
			return errors.New("the repeat answered with another VM")
		}
	}
	return nil
}

func comparesJSON(ctx context.Context, s *subject) error {
	name, key := s.fresh()
	body, err := s.body(name, nil)
	if err != nil {
		return err
	}
	first, err := s.send(ctx, key, body, nil)
	if err != nil {
		return err
	}
	// The same fields in another order and with white space.
	var spread bytes.Buffer
	request := provider.CreateRequest{Name: name, Image: s.order.Image, CPU: s.order.CPU, Memory: s.order.Memory}
	encoder := json.NewEncoder(&spread)
	encoder.SetIndent(" ", "\t")
	if err := encoder.Encode(request); err != nil {
		return fmt.Errorf("writing the body: %w", err)
	}
	second, err := s.send(ctx, key, spread.Bytes(), nil)
	if err != nil {
		return err
	}
	if err := second.want("POST /vms with the same JSON, written otherwise", http.StatusOK, http.StatusCreated); err != nil {
		return err
	}
	if first.vm().ID != second.vm().ID {
		return errors.New("POST /vms with the same JSON, written otherwise: another VM")
	}
	return nil
}

func repeatsAtOnce(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, key = s.fresh()
	var (
		all      sync.WaitGroup
		ids      [callers]string
		problems [callers]error
	)
	for i := range callers {
		all.Go(func() {
			made, err := s.post(ctx, key, request)
			ids[i], problems[i] = made.ID, err
		})
	}
	all.Wait()
	for i := range callers {
		switch {
		case problems[i] != nil:
			return fmt.Errorf("one of %d POSTs at once: %w", callers, problems[i])
		case ids[i] != ids[0]:
			return fmt.Errorf("%d POSTs at once, with one key, made more than one VM", callers)
		}
	}
	return nil
}

func repeatsLost(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, key = s.fresh()
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("writing the body: %w", err)
	}
	for range lost {
		if err := s.sendAndLeave(ctx, key, request, body); err != nil {
			return err
		}
	}
	made, err := s.createAs(ctx, key, request)
	if err != nil {
		return fmt.Errorf("the repeat after lost answers: %w", err)
	}
	again, err := s.post(ctx, key, request)
	if err != nil {
		return fmt.Errorf("the repeat after lost answers: %w", err)
	}
	if again.ID != made.ID {
		return errors.New("two repeats after lost answers answered with two VMs")
	}
	if !s.capabilities.Has(provider.CapabilityList) {
		return nil
	}
	count, err := s.countNamed(ctx, request.Name)
	if err != nil {
		return err
	}
	if count > 1 {
		return fmt.Errorf("after lost answers the list shows %d VMs of one key", count)
	}
	return nil
}

// sendAndLeave sends a POST whole, and closes the connection instead of waiting
// for the answer.
func (s *subject) sendAndLeave(ctx context.Context, key string, order provider.CreateRequest, body []byte) error {
	s.made.intend(order.Name, key, func(ctx context.Context) (string, error) {
		again, err := s.client.Create(ctx, key, order)
		return again.ID, err
	})
	return s.wire.leave(ctx, request{method: http.MethodPost, path: "/vms", body: body, key: key})
}

func refusesOtherBody(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, key = s.fresh()
	made, err := s.createAs(ctx, key, request)
	if err != nil {
		return err
	}
	body, err := s.body(request.Name, map[string]any{"cpu": s.order.CPU + 1})
	if err != nil {
		return err
	}
	answer, err := s.send(ctx, key, body, nil)
	if err != nil {
		return err
	}
	if err := answer.want("POST /vms with the same key and another body", http.StatusUnprocessableEntity); err != nil {
		return err
	}
	shown, err := s.client.Get(ctx, made.ID)
	if err != nil {
		return fmt.Errorf("GET /vms/{id} afterwards: %w", err)
	}
	if shown.CPU != made.CPU {
		return errors.New("the refused POST changed the VM")
	}
	return nil
}

func spendsKey(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, key = s.fresh()
	made, err := s.createAs(ctx, key, request)
	if err != nil {
		return err
	}
	if err := s.remove(ctx, made.ID); err != nil {
		return err
	}
	var problems []error
	for what, fields := range map[string]map[string]any{
		"with the key of a deleted VM":                  nil,
		"with the key of a deleted VM and another body": {"cpu": s.order.CPU + 1},
	} {
		body, err := s.body(request.Name, fields)
		if err != nil {
			return err
		}
		answer, err := s.send(ctx, key, body, nil)
		if err != nil {
			return err
		}
		problems = append(problems, answer.want("POST /vms "+what, http.StatusGone))
	}
	return join(problems...)
}
