package httpapi

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden stands where a key would be shown.
const hidden = "[redacted]"

// APIKey is a bearer token. Whatever prints, logs or marshals it shows that it
// is there, and no more; string(key) is the key.
type APIKey string

// String implements fmt.Stringer.
func (k APIKey) String() string {
	if k == "" {
		return ""
	}
	return hidden
}

// GoString implements fmt.GoStringer.
func (k APIKey) GoString() string { return k.String() }

// Format implements fmt.Formatter: without it, a verb that does not fit a string
// prints the key in its complaint.
func (k APIKey) Format(state fmt.State, _ rune) {
	// A State keeps its own errors, and Format has no way to return one.
	_, _ = io.WriteString(state, k.String())
}

// MarshalText implements encoding.TextMarshaler, and so JSON and YAML.
func (k APIKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue implements slog.LogValuer.
func (k APIKey) LogValue() slog.Value { return slog.StringValue(k.String()) }
