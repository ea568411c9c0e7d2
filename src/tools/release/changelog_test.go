package main

import (
	"strings"
	"testing"
)

const someChangelog = `# Changelog

## [Unreleased]

### Added

- Not yet.

## [0.2.0] - 2026-02-03

### Fixed

- A thing.

## [0.1.0] - 2026-01-02

The first.

## [0.0.2] - soon

- No date.

## [0.0.1]

- No date at all.

## [0.0.0] - 2026-01-01
`

func TestTheNotesOfAVersionAreItsSectionWithoutTheHeading(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v0.2.0": "### Fixed\n\n- A thing.",
		"v0.1.0": "The first.",
	} {
		got, err := section(someChangelog, version)
		if err != nil || got != want {
			t.Errorf("section(%s) = %q, %v; want %q", version, got, err, want)
		}
	}
}

func TestASectionThatIsNotFinishedIsRefused(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v0.3.0":     "has no section",
		"v0.2":       "has no section",
		"v0.0.2":     "parsing time",
		"v0.0.1":     "has no date",
		"v0.0.0":     "is empty",
		"Unreleased": "has no date",
	} {
		if got, err := section(someChangelog, version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("section(%s) = %q, %v; want an error with %q", version, got, err, want)
		}
	}
}
