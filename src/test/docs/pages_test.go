package docs

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository's, from this package's folder.
const root = "../../.."

// page is a Markdown file.
type page struct {
	// path is relative to the repository.
	path string
	// prose is the text without code blocks.
	prose string
	// blocks are the code blocks.
	blocks []block
}

// block is one code block.
type block struct {
	language string
	text     string
}

var fence = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)\n *```$")

// pages are all Markdown files of the repository, those that are not committed
// yet included.
func pages(t *testing.T) []page {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("listing the pages needs git and a clone: %v", err)
	}
	var found []page
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		content, err := os.ReadFile(filepath.Join(root, path))
		if errors.Is(err, os.ErrNotExist) {
			// Deleted, and not committed yet.
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, parse(path, content))
	}
	if len(found) == 0 {
		t.Fatal("the repository has no pages")
	}
	return found
}

func parse(path string, content []byte) page {
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	p := page{path: path, prose: fence.ReplaceAllString(string(content), "")}
	for _, match := range fence.FindAllStringSubmatch(string(content), -1) {
		p.blocks = append(p.blocks, block{language: match[1], text: match[2]})
	}
	return p
}

// written is the page as a reader sees it, code blocks included.
func (p page) written() string {
	var text strings.Builder
	text.WriteString(p.prose)
	for _, b := range p.blocks {
		text.WriteString(b.text + "\n")
	}
	return text.String()
}

// read is one page.
func read(t *testing.T, path string) page {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return parse(path, content)
}

var heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)

// anchors are what links into the page may end in, made as GitHub does.
func (p page) anchors() map[string]bool {
	found := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(p.prose, -1) {
		found[slug(match[1])] = true
	}
	return found
}

var (
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	unnamed  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

func slug(title string) string {
	title = linkText.ReplaceAllString(title, "$1")
	title = unnamed.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
	return strings.ReplaceAll(title, " ", "-")
}
