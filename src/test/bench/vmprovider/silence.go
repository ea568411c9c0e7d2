package vmprovider

import (
	"fmt"
	"io"
	"net/http"

	"github.com/example/vmoperator/src/provider"
)

// Silence is which calls get no answer: they have no effect, and end when their
// client gives up.
type Silence string

const (
	// SilenceNone answers every call. It is the default.
	SilenceNone Silence = "none"
	// SilenceVMs answers GET /capabilities alone.
	SilenceVMs Silence = "vms"
	// SilenceAll answers no call of the contract.
	SilenceAll Silence = "all"
)

// ParseSilence reads the value of a flag; an unknown one is an error.
func ParseSilence(text string) (Silence, error) {
	switch silence := Silence(text); silence {
	case SilenceNone, SilenceVMs, SilenceAll:
		return silence, nil
	}
	return "", fmt.Errorf("%q is not %s, %s or %s", text, SilenceNone, SilenceVMs, SilenceAll)
}

func (s Silence) covers(op provider.Operation) bool {
	return s == SilenceAll || s == SilenceVMs && op != provider.OperationCapabilities
}

// SetSilence changes what is answered from now on. A call that is not answered
// stays so.
func (p *Provider) SetSilence(silence Silence) { p.silence.Store(&silence) }

// keepSilent returns when the client has given up, and then ends the connection,
// as net/http asks for by a panic.
func keepSilent(r *http.Request) {
	// net/http looks for the client's end only once the body is read. A body that
	// cannot be read is such an end.
	_, _ = io.Copy(io.Discard, r.Body) // a body that breaks off is met with silence as well
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}
