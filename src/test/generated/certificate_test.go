package generated

import (
	"encoding/pem"
	"net/http/httptest"
	"testing"
)

// certificate is one that a client can take for an authority's.
func certificate(t *testing.T) []byte {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
