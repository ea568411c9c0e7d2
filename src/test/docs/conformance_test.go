package docs

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/example/vmoperator/src/provider/conformance"
	"github.com/example/vmoperator/src/provider/conformance/command"
	"github.com/example/vmoperator/src/test/mockprovider"
)

const (
	ownProvider    = "docs/write-your-own-provider.md"
	sampleProvider = "docs/samples/provider/provider.py"
	// shown is the endpoint that the pages show.
	shown = "http://127.0.0.1:8080"
)

// startSample starts the sample provider until the test ends, and returns its
// endpoint.
func startSample(t *testing.T) string {
	t.Helper()
	python := os.Getenv(mockprovider.PythonVariable)
	if python == "" {
		python = filepath.Join(".venv", "bin", "python")
	}
	if !filepath.IsAbs(python) {
		python = filepath.Join(root, python)
	}
	process := exec.CommandContext(t.Context(), python, "-B", filepath.Join(root, sampleProvider), "--port", "0")
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatalf("the sample provider needs Python: run `make venv`: %v", err)
	}
	// The test's context ends before, and the process with it.
	t.Cleanup(func() { _ = process.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	endpoint, listening := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !listening {
		t.Fatalf("the sample provider said %q, error %v", line, err)
	}
	return endpoint
}

func TestThePageShowsWhatTheKitPrintsForTheSample(t *testing.T) {
	t.Parallel()
	endpoint := startSample(t)
	var stdout, stderr bytes.Buffer
	if status := command.Run(t.Context(), []string{"--endpoint", endpoint}, &stdout, &stderr); status != 0 {
		t.Errorf("exit status %d, %s", status, stderr.String())
	}
	want := "$ vmoperator conformance --endpoint " + shown + "\n" +
		strings.TrimSpace(strings.ReplaceAll(stdout.String(), endpoint, shown))
	for _, b := range read(t, ownProvider).blocks {
		if strings.Contains(b.text, "\nconformance: ") {
			if diff := cmp.Diff(want, b.text); diff != "" {
				t.Error(diff)
			}
			return
		}
	}
	t.Errorf("%s does not show what the kit prints", ownProvider)
}

func TestThePageShowsAFailureAsTheKitPrintsIt(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile(filepath.Join(root, "src", "provider", "conformance", "command", "testdata", "table.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range read(t, ownProvider).blocks {
		if b.language == "text" && !bytes.Contains(table, []byte(b.text)) {
			t.Errorf("%s shows what the kit does not print:\n%s", ownProvider, b.text)
		}
	}
}

func TestTheSampleProviderIsSmall(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, sampleProvider))
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(content, []byte("\n")); lines > 150 {
		t.Errorf("%s has %d lines, more than anyone reads at once", sampleProvider, lines)
	}
}

func TestEveryCheckNamesAPlaceThatExists(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "mockprovider", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var openapi any
	if err := yaml.Unmarshal(content, &openapi); err != nil {
		t.Fatal(err)
	}
	for _, check := range conformance.Checks() {
		file, place, _ := strings.Cut(check.Where, "#")
		switch file {
		case "mockprovider/openapi.yaml":
			if !leads(openapi, place) {
				t.Errorf("%s: %s leads nowhere", check.Name, check.Where)
			}
		default:
			if !read(t, file).anchors()[place] {
				t.Errorf("%s: %s leads to no heading", check.Name, check.Where)
			}
		}
	}
}

// leads reports whether a JSON pointer leads to something in a document.
func leads(document any, pointer string) bool {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		object, isObject := document.(map[string]any)
		if !isObject {
			return false
		}
		var exists bool
		if document, exists = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]; !exists {
			return false
		}
	}
	return true
}
