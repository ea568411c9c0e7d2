package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/example/vmoperator/src/provider"
)

// pageSize is how many VMs a page is asked for: the most that the contract
// allows.
const pageSize = 500

// Client speaks to one endpoint. Call New.
type Client struct {
	endpoint *url.URL
	// A pointer, for fmt, asked to print a Client, cannot call the methods that
	// hide the key, and shows an address instead.
	key       *APIKey
	timeout   time.Duration
	userAgent string
	http      *http.Client
	now       func() time.Time
}

var _ provider.Client = (*Client)(nil)

// Close releases idle connections. Calls under way end by themselves.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Capabilities implements provider.Client.
func (c *Client) Capabilities(ctx context.Context) (provider.Capabilities, error) {
	call := call{op: provider.OperationCapabilities, method: http.MethodGet, path: []string{"capabilities"}}
	body, err := c.do(ctx, call)
	if provider.ClassOf(err) == provider.NotFound {
		return provider.Capabilities{}, nil
	}
	if err != nil {
		return provider.Capabilities{}, err
	}
	capabilities, err := decodeCapabilities(body)
	if err != nil {
		return provider.Capabilities{}, useless(call.op, err)
	}
	return capabilities, nil
}

// Create implements provider.Client.
func (c *Client) Create(ctx context.Context, key string, request provider.CreateRequest) (provider.Machine, error) {
	call := call{op: provider.OperationCreate, method: http.MethodPost, path: []string{"vms"}, body: request, key: key}
	if !sendable(key) {
		return provider.Machine{}, refuse(call.op, errors.New("the create key has characters that a header cannot carry"))
	}
	return c.machine(ctx, call, func(vm wireMachine) error {
		if key != "" && vm.Key != "" && vm.Key != key {
			return errors.New("the answer is a VM of another create key")
		}
		return nil
	})
}

// Get implements provider.Client.
func (c *Client) Get(ctx context.Context, id string) (provider.Machine, error) {
	return c.machineByID(ctx, id, call{op: provider.OperationGet, method: http.MethodGet})
}

// Resize implements provider.Client.
func (c *Client) Resize(ctx context.Context, id string, size provider.Size) (provider.Machine, error) {
	return c.machineByID(ctx, id, call{op: provider.OperationResize, method: http.MethodPatch, body: size})
}

// Delete implements provider.Client.
func (c *Client) Delete(ctx context.Context, id string) error {
	call := call{op: provider.OperationDelete, method: http.MethodDelete, path: []string{"vms", id}, anyBody: true}
	if !safeID.MatchString(id) {
		return refuse(call.op, errUnsafeID)
	}
	_, err := c.do(ctx, call)
	return err
}

// FindByKey implements provider.Client.
func (c *Client) FindByKey(ctx context.Context, key string) (provider.Machine, error) {
	call := call{
		op: provider.OperationFind, method: http.MethodGet, path: []string{"vms"},
		query: url.Values{"key": {key}}, limit: maxPageBytes,
	}
	body, err := c.do(ctx, call)
	if err != nil {
		return provider.Machine{}, err
	}
	page, err := decodePage(body)
	if err != nil {
		return provider.Machine{}, useless(call.op, err)
	}
	// A server that does not know the parameter answers with any VMs.
	for _, vm := range *page.Items {
		if vm.Key != key {
			return provider.Machine{}, useless(call.op, errors.New("the answer has a VM without the key that was asked for"))
		}
	}
	switch len(*page.Items) {
	case 0:
		return provider.Machine{}, &provider.Error{
			Op: call.op, Class: provider.NotFound, Err: errors.New("the provider shows no VM of this create key"),
		}
	case 1:
	default:
		return provider.Machine{}, useless(call.op, errors.New("the answer has several VMs of one create key"))
	}
	machine, err := (*page.Items)[0].machine()
	if err != nil {
		return provider.Machine{}, useless(call.op, err)
	}
	return machine, nil
}

// List implements provider.Client.
func (c *Client) List(ctx context.Context, cursor string) (provider.Page, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	call := call{op: provider.OperationList, method: http.MethodGet, path: []string{"vms"}, query: query, limit: maxPageBytes}
	body, err := c.do(ctx, call)
	if err != nil {
		return provider.Page{}, err
	}
	wire, err := decodePage(body)
	if err != nil {
		return provider.Page{}, useless(call.op, err)
	}
	if cursor != "" && *wire.Next == cursor {
		return provider.Page{}, useless(call.op, errors.New("the page leads to itself"))
	}
	page, err := wire.page()
	if err != nil {
		return provider.Page{}, useless(call.op, err)
	}
	return page, nil
}

func (c *Client) machineByID(ctx context.Context, id string, call call) (provider.Machine, error) {
	if !safeID.MatchString(id) {
		return provider.Machine{}, refuse(call.op, errUnsafeID)
	}
	call.path = []string{"vms", id}
	return c.machine(ctx, call, func(vm wireMachine) error {
		if vm.ID != id {
			return errors.New("the answer is another VM than the one that was asked for")
		}
		return nil
	})
}

// machine makes a call that is answered with one VM, which must pass a check.
func (c *Client) machine(ctx context.Context, call call, check func(wireMachine) error) (provider.Machine, error) {
	body, err := c.do(ctx, call)
	if err != nil {
		return provider.Machine{}, err
	}
	wire, err := decode[wireMachine](body)
	if err != nil {
		return provider.Machine{}, useless(call.op, fmt.Errorf("the answer is no VM: %w", err))
	}
	machine, err := wire.machine()
	if err == nil {
		err = check(wire)
	}
	if err != nil {
		return provider.Machine{}, useless(call.op, err)
	}
	return machine, nil
}
