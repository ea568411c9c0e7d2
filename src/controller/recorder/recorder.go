// Package recorder sends Events by client-go's broadcaster, and bounds what that
// remembers.
//
// A broadcaster keeps each Event for at least six minutes, to join it with those that
// tell the same, and nothing sets this time. Ten thousand objects that are made at
// once are thirty thousand Events that nobody repeats.
package recorder

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

const (
	// most is how many Events a broadcaster is given before another takes its place.
	// Events are joined with others of the same broadcaster alone.
	most = 1000
	// grace is how long a broadcaster that was replaced has for what it was given last.
	grace = 30 * time.Second
)

// Recorder is an events.EventRecorder. Call New.
type Recorder struct {
	sink   events.EventSink
	scheme *runtime.Scheme
	name   string
	logger logr.Logger
	// after calls a function after a time.
	after func(time.Duration, func())

	mu      sync.Mutex
	current *line
}

// line is a broadcaster at work.
type line struct {
	events.EventRecorder

	given int
	end   func()
}

var _ events.EventRecorder = (*Recorder)(nil)

// New returns a Recorder that sends to a sink, in the name of a controller. What
// cannot be sent is logged.
func New(sink events.EventSink, scheme *runtime.Scheme, name string, logger logr.Logger) *Recorder {
	return &Recorder{
		sink: sink, scheme: scheme, name: name, logger: logger,
		after: func(wait time.Duration, do func()) { time.AfterFunc(wait, do) },
	}
}

// Eventf implements events.EventRecorder. It does not block.
func (r *Recorder) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil && r.current.given == most {
		r.after(grace, r.current.end)
		r.current = nil
	}
	if r.current == nil {
		next, err := r.begin()
		if err != nil {
			r.logger.Error(err, "an event is lost", "reason", reason)
			return
		}
		r.current = next
	}
	r.current.given++
	r.current.Eventf(regarding, related, eventtype, reason, action, note, args...)
}

func (r *Recorder) begin() (*line, error) {
	broadcaster := events.NewBroadcaster(r.sink)
	ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), r.logger))
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		cancel()
		return nil, fmt.Errorf("starting to send events: %w", err)
	}
	return &line{
		EventRecorder: broadcaster.NewRecorder(r.scheme, r.name),
		end: func() {
			broadcaster.Shutdown()
			cancel()
		},
	}, nil
}
