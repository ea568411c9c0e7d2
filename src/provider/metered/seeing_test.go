package metered_test

import (
	"context"
	"errors"

	"github.com/example/vmoperator/src/provider"
)

// seeing answers a read with the request ID that reached it.
type seeing struct{ provider.Client }

func (seeing) Get(ctx context.Context, _ string) (provider.Machine, error) {
	return provider.Machine{}, errors.New(provider.CallInfoFrom(ctx).RequestID)
}
