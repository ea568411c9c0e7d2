package main

import (
	"bytes"
	"strings"
	"testing"
)

var (
	someDigest  = "sha256:" + strings.Repeat("a", 64)
	otherDigest = "sha256:" + strings.Repeat("b", 64)
)

func metadata(name, digest string) string {
	return `{"buildx.build.ref": "builder/0/x", "containerimage.digest": "` + digest + `", "image.name": "` + name + `"}`
}

// built returns a folder with what buildx says of two images of a tag.
func built(t *testing.T, tag string) string {
	t.Helper()
	return write(t, map[string]string{
		"vmoperator.json":               metadata("ghcr.io/example/vmoperator:"+tag, someDigest),
		"vmoperator-mock-provider.json": metadata("ghcr.io/example/vmoperator-mock-provider:"+tag, otherDigest),
	})
}

func TestImagesAreNamedByTheirDigests(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := printReferences(&out, built(t, "v0.1.0")); err != nil {
		t.Fatal(err)
	}
	want := "ghcr.io/example/vmoperator@" + someDigest + "\nghcr.io/example/vmoperator-mock-provider@" + otherDigest + "\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestARegistryMayHaveAPort(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"image.json": metadata("localhost:5000/vmoperator:v0.1.0", someDigest)})
	got, err := readImage(dir + "/image.json")
	want := image{registry: "localhost:5000", repository: "vmoperator", tag: "v0.1.0", digest: someDigest}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestMetadataOfAnImageThatWasNotPushedIsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{metadata("ghcr.io/example/vmoperator:v0.1.0", ""), "was the image pushed?"},
		{metadata("ghcr.io/example/vmoperator:v0.1.0", "sha256:abc"), "was the image pushed?"},
		{metadata("ghcr.io/example/vmoperator", someDigest), "not registry/repository:tag"},
		{metadata("vmoperator:v0.1.0", someDigest), "not registry/repository:tag"},
		{metadata("ghcr.io/a:1,ghcr.io/a:2", someDigest), "not registry/repository:tag"},
		{"", "unexpected end"},
	} {
		dir := write(t, map[string]string{"image.json": test.text})
		if got, err := readImage(dir + "/image.json"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", test.text, got, err, test.want)
		}
	}
}
