// Package leak looks for a secret where it must not be: in texts such as logs, and
// in every object that an apiserver serves.
package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
)

// Finder recognizes a secret in the forms that software writes it down in.
type Finder struct {
	forms []form
}

type form struct {
	name string
	look []byte
}

// minLength is that of a secret whose pieces, too, cannot be found by chance.
const minLength = 8

// NewFinder returns a Finder of a secret, which must have at least 8 bytes.
func NewFinder(secret string) (*Finder, error) {
	if len(secret) < minLength {
		return nil, fmt.Errorf("a secret of %d bytes would be found anywhere", len(secret))
	}
	forms := []form{
		{"plain", []byte(secret)},
		{"hexadecimal", []byte(hex.EncodeToString([]byte(secret)))},
		{"URL-encoded", []byte(url.QueryEscape(secret))},
	}
	for offset := range 3 {
		forms = append(forms, form{"base64", base64Core(secret, offset)})
	}
	return &Finder{forms: forms}, nil
}

// base64Core is what base64 makes of a secret wherever it stands behind offset
// bytes, whatever these and those behind it are.
func base64Core(secret string, offset int) []byte {
	const bits, symbolBits = 8, 6
	text := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), secret...))
	first := (offset*bits + symbolBits - 1) / symbolBits
	last := (offset + len(secret)) * bits / symbolBits
	return []byte(text[first:last])
}

// In returns the form in which the secret is in a text; empty if it is not.
func (f *Finder) In(text []byte) string {
	for _, form := range f.forms {
		if bytes.Contains(text, form.look) {
			return form.name
		}
	}
	return ""
}
