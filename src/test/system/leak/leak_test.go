package leak_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"testing"

	"pgregory.net/rapid"

	"github.com/example/vmoperator/src/test/system/leak"
)

const secret = "MARKER-7f3a/key=1" //nolint:gosec // it opens nothing

func finder(t *testing.T) *leak.Finder {
	t.Helper()
	found, err := leak.NewFinder(secret)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestASecretIsFoundInEveryForm(t *testing.T) {
	f := finder(t)
	for name, text := range map[string]string{
		"as it is":           `{"msg":"calling","header":"Bearer ` + secret + `"}`,
		"hexadecimal":        "key " + hex.EncodeToString([]byte(secret)),
		"in a URL":           "http://h/vms?key=" + url.QueryEscape(secret),
		"in a Secret's data": base64.StdEncoding.EncodeToString([]byte(secret)),
	} {
		if f.In([]byte(text)) == "" {
			t.Errorf("%s it is not found: %s", name, text)
		}
	}
}

func TestASecretIsFoundWhereverItStandsInBase64(t *testing.T) {
	f := finder(t)
	rapid.Check(t, func(t *rapid.T) {
		before, after := rapid.SliceOf(rapid.Byte()).Draw(t, "before"), rapid.SliceOf(rapid.Byte()).Draw(t, "after")
		text := append(append(before, secret...), after...)
		if f.In([]byte(base64.StdEncoding.EncodeToString(text))) == "" {
			t.Fatalf("not found behind %d bytes and before %d", len(before), len(after))
		}
	})
}

func TestWhatIsNotTheSecretIsNotFound(t *testing.T) {
	f := finder(t)
	for _, text := range []string{"", "MARKER", "MARKER-7f3", base64.StdEncoding.EncodeToString([]byte("MARKER-7f3a")), secret[1:]} {
		if form := f.In([]byte(text)); form != "" {
			t.Errorf("found in %q, %s", text, form)
		}
	}
}

func TestASecretThatIsFoundAnywhereIsRefused(t *testing.T) {
	if _, err := leak.NewFinder("abc"); err == nil {
		t.Error("accepted")
	}
}
