package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

func TestOnlyTheImageChangesInValuesThatAreWrittenByHand(t *testing.T) {
	t.Parallel()
	const before = `# A comment.
image:

  # The registry.
  registry: registry.example.com # here
  repository: 'vmoperator'
  tag: ""
  digest: "sha256:old"   # wins
  pullPolicy: Always
other:
  image: {tag: "untouched"}
`
	after := `# A comment.
image:

  # The registry.
  registry: "ghcr.io" # here
  repository: "example/vmoperator"
  tag: "v0.2.0"
  digest: "` + someDigest + `"   # wins
  pullPolicy: Always
other:
  image: {tag: "untouched"}
`
	pushed := image{registry: "ghcr.io", repository: "example/vmoperator", tag: "v0.2.0", digest: someDigest}
	got, err := pin(before, imageKey, pushed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if again, err := pin(got, imageKey, pushed); err != nil || again != got {
		t.Errorf("the same image once more: %v:\n%s", err, cmp.Diff(got, again))
	}
}

func TestValuesThatCannotBeWrittenOnOneLineAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "the document is empty",
		"image: x":                  "there is no image.tag",
		"image: {}":                 "there is no image.tag",
		"image: {tag: {a: 1}}":      "is not a scalar",
		"image:\n  tag: |\n    old": "not a scalar on one line",
		"image:\n  tag: &a old":     "not a scalar on one line",
		"image:\n  tag: \"a\\\"b\"": "not a scalar on one line",
		"image: [":                  "yaml:",
	} {
		if got, err := set(text, []string{"image", "tag"}, "new"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestAnyValueReadsAsItWasWrittenOrIsRefused(t *testing.T) {
	t.Parallel()
	plain := rapid.StringMatching(`[a-z0-9:/@.-]{0,20}`)
	rapid.Check(t, func(t *rapid.T) {
		old, other := plain.Draw(t, "old"), plain.Draw(t, "other")
		quote := rapid.SampledFrom([]string{"", `"`, "'"}).Draw(t, "quote")
		value := plain.Draw(t, "value")
		text := "a:\n  other: '" + other + "'\n  tag: " + quote + old + quote + " # why\nb: 1\n"
		changed, err := set(text, []string{"a", "tag"}, value)
		if err != nil {
			return
		}
		var got struct {
			A struct{ Other, Tag string }
			B int
		}
		if err := yaml.Unmarshal([]byte(changed), &got); err != nil {
			t.Fatal(err)
		}
		if got.A.Tag != value || got.A.Other != other || got.B != 1 || !strings.Contains(changed, " # why") {
			t.Fatalf("%q became %q", text, changed)
		}
	})
}

func TestOurChartIsStampedWithBothImages(t *testing.T) {
	t.Parallel()
	chart := filepath.Join(t.TempDir(), "vmoperator")
	if err := os.CopyFS(chart, os.DirFS(filepath.Join(root, operatorChart))); err != nil {
		t.Fatal(err)
	}
	if err := stamp(built(t, "v9.9.9"), chart); err != nil {
		t.Fatal(err)
	}
	for file, digest := range map[string]string{
		filepath.Join(chart, "values.yaml"):            someDigest,
		filepath.Join(chart, mockChart, "values.yaml"): otherDigest,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var values struct {
			Image struct{ Registry, Tag, Digest string }
		}
		if err := yaml.Unmarshal(text, &values); err != nil {
			t.Fatal(err)
		}
		if got := values.Image; got.Registry != "ghcr.io" || got.Tag != "v9.9.9" || got.Digest != digest {
			t.Errorf("%s has %+v", file, got)
		}
	}
	annotated, err := readChart(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if images := annotated.Annotations["artifacthub.io/images"]; !strings.Contains(images, "ghcr.io/example/vmoperator@"+someDigest+"\n") {
		t.Errorf("Artifact Hub reads:\n%s", images)
	}
}

func TestAChartThatNamesNoImageOrSeveralIsNotAnnotated(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "image: a:1\nimage: b:1\n"} {
		if got, err := annotate(text, image{}); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}
