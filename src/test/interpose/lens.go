package interpose

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
)

// Lens is a Next that shows its caller the cluster as it was: it stops the events
// of watches, loses them, and answers lists with what they said before. Reads of
// single objects, and writes, go through as ever.
//
// It does not speak the protocol of streamed lists: callers must be told to list
// and then to watch, with KUBE_FEATURE_WatchListClient=false in their environment.
type Lens struct {
	next http.Handler

	mu    sync.Mutex
	views map[View]*state
}

// View is what a cache holds: the objects of one resource in one namespace.
type View struct{ Namespace, Resource string }

// state is how a View is shown.
type state struct {
	// thawed is closed once events may go on; nil while they may.
	thawed chan struct{}
	// losses counts how often events were lost. A watch that began before the last
	// loss has no more to say.
	losses int
	// unlisted is true from a loss until the caller has listed again.
	unlisted bool
	// lists are the requests for lists that were seen, by their form; kept are
	// answers to them, and old those that they get instead of true ones.
	lists     map[string]*http.Request
	kept, old map[string]*httptest.ResponseRecorder
}

// NewLens returns a Lens that shows all as it is.
func NewLens(next http.Handler) *Lens { return &Lens{next: next, views: map[View]*state{}} }

// Freeze stops the events of a View. Those that are on their way go through.
func (l *Lens) Freeze(view View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.state(view); s.thawed == nil {
		s.thawed = make(chan struct{})
	}
}

// Thaw shows a View as it is from now on, after all that has happened meanwhile.
func (l *Lens) Thaw(view View) { l.thaw(view, false) }

// Lose shows a View as it is from now on. What has happened since it was frozen is
// never told: as when a watch breaks and its history is gone, its caller must list
// again.
func (l *Lens) Lose(view View) { l.thaw(view, true) }

func (l *Lens) thaw(view View, lose bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state(view)
	s.old = nil
	if lose {
		s.losses++
		s.unlisted = true
	}
	if s.thawed != nil {
		close(s.thawed)
		s.thawed = nil
	}
}

// Keep notes what the lists of a View say now, for Recall. The view must have been
// listed through the Lens before.
func (l *Lens) Keep(ctx context.Context, view View) {
	l.mu.Lock()
	lists := maps.Clone(l.state(view).lists)
	l.mu.Unlock()
	old := map[string]*httptest.ResponseRecorder{}
	for form, request := range lists {
		old[form] = httptest.NewRecorder()
		l.next.ServeHTTP(old[form], request.Clone(context.WithValue(ctx, callKey{}, CallOf(request))))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state(view).kept = old
}

// Recall freezes a View, and makes its lists say what was kept of them: until it is
// thawed, a caller that starts anew finds the past.
func (l *Lens) Recall(view View) {
	l.Freeze(view)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state(view)
	s.old = s.kept
}

// ServeHTTP implements http.Handler.
func (l *Lens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := CallOf(r)
	view := View{Namespace: call.Namespace, Resource: call.Resource}
	switch {
	case call.Kind == Object && call.Verb == "list":
		l.list(w, r, view)
	case call.Kind == Object && call.Verb == "watch":
		l.watch(r.Context(), w, r, view)
	default:
		l.next.ServeHTTP(w, r)
	}
}

func (l *Lens) list(w http.ResponseWriter, r *http.Request, view View) {
	l.mu.Lock()
	s := l.state(view)
	s.lists[formOf(r)] = r.Clone(context.WithoutCancel(r.Context()))
	s.unlisted = false
	old := s.old[formOf(r)]
	l.mu.Unlock()
	if old == nil {
		l.next.ServeHTTP(w, r)
		return
	}
	maps.Copy(w.Header(), old.Header())
	w.Header().Set("Content-Length", strconv.Itoa(old.Body.Len()))
	w.WriteHeader(old.Code)
	// Whoever has gone meanwhile will list again.
	_, _ = w.Write(old.Body.Bytes())
}

// formOf tells apart what lists of one View are answered with: which objects, and
// how they are written down.
func formOf(r *http.Request) string {
	return r.Header.Get("Accept") + " " + r.URL.Query().Get("labelSelector")
}

func (l *Lens) watch(ctx context.Context, w http.ResponseWriter, r *http.Request, view View) {
	l.mu.Lock()
	s := l.state(view)
	losses, unlisted := s.losses, s.unlisted
	l.mu.Unlock()
	if unlisted {
		http.Error(w, "the history of this watch is lost", http.StatusGone)
		return
	}
	l.next.ServeHTTP(&frozen{ResponseWriter: w, wait: func() { l.await(ctx, view, losses) }}, r)
}

// await returns when a watch that began after a number of losses may tell an
// event, and cuts its connection if it never may.
func (l *Lens) await(ctx context.Context, view View, losses int) {
	l.mu.Lock()
	thawed := l.state(view).thawed
	l.mu.Unlock()
	if thawed != nil {
		select {
		case <-thawed:
		case <-ctx.Done():
			panic(http.ErrAbortHandler)
		}
	}
	l.mu.Lock()
	lost := l.state(view).losses > losses
	l.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
}

// state returns a View's state. The caller has the lock.
func (l *Lens) state(view View) *state {
	s := l.views[view]
	if s == nil {
		s = &state{lists: map[string]*http.Request{}}
		l.views[view] = s
	}
	return s
}

// frozen waits before it tells an event.
type frozen struct {
	http.ResponseWriter

	wait func()
}

func (w *frozen) Write(content []byte) (int, error) {
	w.wait()
	return w.ResponseWriter.Write(content)
}

// Unwrap gives http.ResponseController what the server's own writer can do.
func (w *frozen) Unwrap() http.ResponseWriter { return w.ResponseWriter }
