package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The image's value in a file of chart values.
var imageKey = []string{"image"}

// The mock provider's, in values of the operator's chart.
var mockImageKey = []string{"mock-provider", "image"}

// A scalar that ends on its line: quoted without an escape, or plain.
var scalar = regexp.MustCompile(`^("[^"\\]*"|'[^']*'|[^\s"'#|>&*!{\[][^#]*?)(\s*|\s+#.*)$`)

// stamp puts the images into the chart in a folder, so that it installs these and no others.
func stamp(imagesDir, chart string) error {
	pushed, err := readImages(imagesDir)
	if err != nil {
		return err
	}
	return errors.Join(
		rewrite(filepath.Join(chart, "values.yaml"), func(text string) (string, error) {
			return pin(text, imageKey, pushed.operator)
		}),
		rewrite(filepath.Join(chart, mockChart, "values.yaml"), func(text string) (string, error) {
			return pin(text, imageKey, pushed.mock)
		}),
		rewrite(filepath.Join(chart, "Chart.yaml"), func(text string) (string, error) {
			return annotate(text, pushed.operator)
		}),
	)
}

func rewrite(path string, change func(string) (string, error)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := change(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

// annotate names an image where Artifact Hub reads it, in a Chart.yaml that has one such line.
func annotate(text string, pushed image) (string, error) {
	lines := annotatedImage.FindAllStringSubmatchIndex(text, -1)
	if len(lines) != 1 {
		return "", fmt.Errorf("%d lines name an image, not 1", len(lines))
	}
	at := lines[0]
	return text[:at[2]] + pushed.reference() + text[at[5]:], nil
}

// pin puts an image into values, below a key, and changes nothing else: comments and blank lines are as they were. All four
// parts of the image must be there.
func pin(text string, key []string, pushed image) (string, error) {
	for _, part := range []struct{ name, value string }{
		{"registry", pushed.registry},
		{"repository", pushed.repository},
		{"tag", pushed.tag},
		{"digest", pushed.digest},
	} {
		var err error
		if text, err = set(text, append(slices.Clone(key), part.name), part.value); err != nil {
			return "", err
		}
	}
	return text, nil
}

// set replaces one scalar of a YAML document in its text.
func set(text string, key []string, value string) (string, error) {
	node, err := find(text, key)
	if err != nil {
		return "", err
	}
	lines := strings.Split(text, "\n")
	line := lines[node.Line-1]
	match := scalar.FindStringSubmatch(line[node.Column-1:])
	if match == nil {
		return "", fmt.Errorf("line %d: %s is not a scalar on one line", node.Line, strings.Join(key, "."))
	}
	lines[node.Line-1] = line[:node.Column-1] + strconv.Quote(value) + match[2]
	changed := strings.Join(lines, "\n")
	written, err := find(changed, key)
	if err != nil {
		return "", err
	}
	if written.Value != value {
		return "", fmt.Errorf("line %d: %s reads %q after %q was written", node.Line, strings.Join(key, "."), written.Value, value)
	}
	return changed, nil
}

// find returns the scalar at a key.
func find(text string, key []string) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, errors.New("the document is empty")
	}
	node := document.Content[0]
	for _, name := range key {
		next := child(node, name)
		if next == nil {
			return nil, fmt.Errorf("there is no %s", strings.Join(key, "."))
		}
		node = next
	}
	if node.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("line %d: %s is not a scalar", node.Line, strings.Join(key, "."))
	}
	return node, nil
}

func child(node *yaml.Node, name string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	// Keys and values take turns.
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}
