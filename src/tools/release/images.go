package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// image is one that was pushed, in the parts that the chart's values have.
type image struct {
	registry, repository, tag, digest string
}

// reference returns the image as whoever signs or pulls it names it: by its digest.
func (i image) reference() string {
	return i.registry + "/" + i.repository + "@" + i.digest
}

// images are the two of one build.
type images struct {
	operator, mock image
}

// readImages reads what docker buildx wrote of both images into a folder.
func readImages(dir string) (images, error) {
	operator, err := readImage(filepath.Join(dir, "vmoperator.json"))
	if err != nil {
		return images{}, err
	}
	mock, err := readImage(filepath.Join(dir, "vmoperator-mock-provider.json"))
	if err != nil {
		return images{}, err
	}
	return images{operator: operator, mock: mock}, nil
}

func readImage(path string) (image, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return image{}, err
	}
	var metadata struct {
		// One name, for one tag is given.
		Name   string `json:"image.name"`
		Digest string `json:"containerimage.digest"`
	}
	if err := json.Unmarshal(text, &metadata); err != nil {
		return image{}, fmt.Errorf("%s: %w", path, err)
	}
	registry, rest, hasRegistry := strings.Cut(metadata.Name, "/")
	repository, tag, hasTag := strings.Cut(rest, ":")
	if !hasRegistry || !hasTag || strings.ContainsAny(tag, ",:/@") {
		return image{}, fmt.Errorf("%s: image.name is %q, not registry/repository:tag", path, metadata.Name)
	}
	if !digestForm.MatchString(metadata.Digest) {
		return image{}, fmt.Errorf("%s: containerimage.digest is %q: was the image pushed?", path, metadata.Digest)
	}
	return image{registry: registry, repository: repository, tag: tag, digest: metadata.Digest}, nil
}
