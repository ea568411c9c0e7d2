package httpapi_test

import (
	"log"
	"testing"
)

// quiet sends a server's complaints about broken handshakes to the test's log.
func quiet(t *testing.T) *log.Logger {
	t.Helper()
	return log.New(t.Output(), "", 0)
}
