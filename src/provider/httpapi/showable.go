package httpapi

import (
	"strings"
	"unicode"
)

// maxShown is how many characters of a provider's own words are shown.
const maxShown = 200

// showable makes a provider's words safe to show: printable, short, and without
// the key, should the provider have echoed it.
func showable(text, key string) string {
	text = strings.Join(strings.Fields(strings.Map(printable, redact(text, key))), " ")
	// Again, for the key may have been interrupted by characters that are gone now.
	text = redact(text, key)
	if runes := []rune(text); len(runes) > maxShown {
		text = string(runes[:maxShown-1]) + "…"
	}
	return text
}

func redact(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, hidden)
}

// printable maps white space to spaces and drops what does not print.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsPrint(r):
		return r
	}
	return -1
}
