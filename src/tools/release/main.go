// Command release does what publishing needs beyond building: it checks that a version is ready, cuts its notes from the
// changelog, and writes the digests of pushed images to where they are read.
//
//	release check VERSION             fail unless the charts, the changelog and the Makefile agree on VERSION, as in v0.1.0
//	release notes VERSION             print the changelog's section of VERSION
//	release references IMAGES         print the images, each with its digest, one a line
//	release stamp IMAGES CHART        put the images into a chart's values, those of its mock provider, and its annotations
//	release promote IMAGES VALUES     put the images into a values file on the remote's main branch
//
// IMAGES is a folder with a JSON file for each image, as docker buildx writes it (--metadata-file). All run at the top of
// the repository.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
)

var errUsage = errors.New("usage: release check VERSION | notes VERSION | references IMAGES | stamp IMAGES CHART | promote IMAGES VALUES")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	switch command, first, rest := args[0], args[1], args[2:]; {
	case command == "check" && len(rest) == 0:
		return check(out, ".", first)
	case command == "notes" && len(rest) == 0:
		return printNotes(out, first)
	case command == "references" && len(rest) == 0:
		return printReferences(out, first)
	case command == "stamp" && len(rest) == 1:
		return stamp(first, rest[0])
	case command == "promote" && len(rest) == 1:
		return promote(ctx, out, first, rest[0])
	}
	return errUsage
}

func printNotes(out io.Writer, version string) error {
	text, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	body, err := section(string(text), version)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, body)
	return nil
}

func printReferences(out io.Writer, dir string) error {
	images, err := readImages(dir)
	if err != nil {
		return err
	}
	for _, pushed := range []image{images.operator, images.mock} {
		fmt.Fprintln(out, pushed.reference())
	}
	return nil
}
