package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

var errLate = errors.New("the time for the call is over")

// punctual is a body that cannot be read once the time for the call is over.
// net/http reads it when there is a connection: a process that was stopped while it
// connected, for longer than the call may take, sends at most a header when it goes
// on, and nobody can carry that out. The context alone does not see to that, for a stopped process finds its
// connection made and its time over at the same moment.
type punctual struct {
	io.Reader

	until time.Time
	late  *atomic.Bool
}

// Read implements io.Reader.
func (p *punctual) Read(into []byte) (int, error) {
	if !time.Now().Before(p.until) {
		p.late.Store(true)
		return 0, errLate
	}
	return p.Reader.Read(into)
}

// carry gives a request its body. Its context must have a deadline.
func carry(ctx context.Context, request *http.Request, text []byte, late *atomic.Bool) {
	deadline, _ := ctx.Deadline()
	request.GetBody = func() (io.ReadCloser, error) {
		late.Store(false)
		// By the wall clock, which also counts the time that a suspended machine slept.
		return io.NopCloser(&punctual{Reader: bytes.NewReader(text), until: deadline.Round(0), late: late}), nil
	}
	request.Body, _ = request.GetBody() // has no error to return
	request.ContentLength = int64(len(text))
	request.Header.Set("Content-Type", "application/json")
}
