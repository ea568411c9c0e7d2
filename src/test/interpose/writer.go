package interpose

import "net/http"

// noted tells the status of an answer before anything of it is sent.
type noted struct {
	http.ResponseWriter

	note func(int)
	told bool
}

func (w *noted) WriteHeader(status int) {
	if !w.told && status >= http.StatusOK {
		w.told = true
		w.note(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *noted) Write(content []byte) (int, error) {
	if !w.told {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(content)
}

// Unwrap gives http.ResponseController what the server's own writer can do.
func (w *noted) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unheard is where an answer goes that nobody gets.
type unheard struct{ header http.Header }

func (w *unheard) Header() http.Header             { return w.header }
func (*unheard) Write(content []byte) (int, error) { return len(content), nil }
func (*unheard) WriteHeader(int)                   {}
func (*unheard) FlushError() error                 { return nil }
