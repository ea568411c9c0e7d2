package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/httpapi"
)

// subject is the provider that is tried, and what the checks share.
type subject struct {
	client       provider.Client
	wire         *wire
	apiKey       httpapi.APIKey
	capabilities provider.Capabilities
	discovered   bool
	order        provider.CreateRequest
	patience     time.Duration
	// run and check stand in the names of VMs: whoever finds one knows whose it is.
	run   string
	check string
	count int
	made  *inventory
}

// fresh names what no run named before: a VM, and its create key.
func (s *subject) fresh() (name, key string) {
	s.count++
	name = fmt.Sprintf("%s%s-%d", s.prefix(), s.check, s.count)
	return name, name + "/1"
}

// prefix is how the names of all VMs of this run begin.
func (s *subject) prefix() string { return "conformance-" + s.run + "-" }

// unknownID is one that no VM ever had.
func (s *subject) unknownID() string {
	name, _ := s.fresh()
	return name
}

// create makes a VM and waits until reads show it.
func (s *subject) create(ctx context.Context) (provider.Machine, error) {
	name, key := s.fresh()
	request := s.order
	request.Name = name
	return s.createAs(ctx, key, request)
}

func (s *subject) createAs(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, error) {
	made, err := s.post(ctx, key, request)
	if err != nil {
		return made, fmt.Errorf("POST /vms: %w", err)
	}
	return made, s.visible(ctx, made.ID)
}

// post makes a VM as the operator would, and notes it for the removal.
func (s *subject) post(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, error) {
	item := s.made.intend(request.Name, key, func(ctx context.Context) (string, error) {
		again, err := s.client.Create(ctx, key, request)
		return again.ID, err
	})
	made, err := s.client.Create(ctx, key, request)
	item.answered(made.ID, err)
	return made, err
}

// send makes a VM with a body of the check's own, and notes what it makes for the
// removal. An answer is no error, whatever its status.
func (s *subject) send(ctx context.Context, key string, body []byte, edit func(*request)) (answer, error) {
	call := request{method: "POST", path: "/vms", body: body, key: key}
	if edit != nil {
		edit(&call)
	}
	item := s.made.intend(nameIn(body), key, func(ctx context.Context) (string, error) {
		again, err := s.wire.do(ctx, call)
		return again.vm().ID, err
	})
	got, err := s.wire.do(ctx, call)
	switch {
	case err != nil:
		return got, err
	case got.succeeded():
		item.answered(got.vm().ID, nil)
	case got.status < 500:
		item.nothing()
	}
	return got, nil
}

// body is an order as JSON, with fields changed or added.
func (s *subject) body(name string, fields map[string]any) ([]byte, error) {
	order := map[string]any{"name": name, "image": s.order.Image, "cpu": s.order.CPU, "memory": s.order.Memory}
	for field, value := range fields {
		if value == nil {
			delete(order, field)
			continue
		}
		order[field] = value
	}
	return json.Marshal(order)
}

func nameIn(body []byte) string {
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(body, &named) != nil {
		return ""
	}
	return named.Name
}

// visible waits until reads show a VM: for how long they may not is the business
// of one check, and no other must fail for it.
func (s *subject) visible(ctx context.Context, id string) error {
	return s.eventually(ctx, "shown by GET /vms/{id}", func() (bool, error) {
		_, err := s.client.Get(ctx, id)
		if provider.ClassOf(err) == provider.NotFound {
			return false, nil
		}
		return err == nil, err
	})
}

// gone waits until reads say that a VM is not there.
func (s *subject) gone(ctx context.Context, id string) error {
	return s.eventually(ctx, "gone after DELETE /vms/{id}", func() (bool, error) {
		_, err := s.client.Get(ctx, id)
		if provider.ClassOf(err) == provider.NotFound {
			return true, nil
		}
		return false, err
	})
}

// remove deletes a VM and waits until it is gone.
func (s *subject) remove(ctx context.Context, id string) error {
	if err := s.client.Delete(ctx, id); err != nil {
		return fmt.Errorf("DELETE /vms/{id}: %w", err)
	}
	return s.gone(ctx, id)
}

// settled waits until what was done at a time must be seen by all reads.
func (s *subject) settled(ctx context.Context, since time.Time) error {
	if s.capabilities.Settle > s.patience {
		return skip("settleSeconds is longer than this run waits")
	}
	return pause(ctx, time.Until(since.Add(s.capabilities.Settle)))
}

// eventually waits until a VM is as it should be, for as long as s.patience. An
// attempt under way is never cut off by that: on a slow machine, what is right at
// the first look passes.
func (s *subject) eventually(ctx context.Context, what string, reached func() (bool, error)) error {
	deadline := time.Now().Add(s.patience)
	late := errors.New("late")
	backoff := wait.Backoff{Duration: 20 * time.Millisecond, Factor: 1.5, Cap: 2 * time.Second, Steps: 1 << 30}
	err := backoff.DelayFunc().Until(ctx, true, true, func(context.Context) (bool, error) {
		done, err := reached()
		if !done && err == nil && time.Now().After(deadline) {
			err = late
		}
		return done, err
	})
	if errors.Is(err, late) {
		return fmt.Errorf("the VM is not %s within %s", what, s.patience)
	}
	if err != nil {
		return fmt.Errorf("waiting for the VM to be %s: %w", what, err)
	}
	return nil
}
