package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

const changelog = "CHANGELOG.md"

// A heading of the second level, as Keep a Changelog has it: `## [0.1.0] - 2026-01-31`.
var heading = regexp.MustCompile(`(?m)^## \[([^\]]+)\](?: - (\S+))?[ \t]*$`)

// section returns what a changelog says of a version, such as v0.1.0, without the heading. It fails where the version has no
// section, the section no date, or nothing stands in it.
func section(text, version string) (string, error) {
	headings := heading.FindAllStringSubmatchIndex(text, -1)
	for i, at := range headings {
		if text[at[2]:at[3]] != strings.TrimPrefix(version, "v") {
			continue
		}
		if at[4] < 0 {
			return "", fmt.Errorf("%s: the section of %s has no date", changelog, version)
		}
		if _, err := time.Parse(time.DateOnly, text[at[4]:at[5]]); err != nil {
			return "", fmt.Errorf("%s: the section of %s: %w", changelog, version, err)
		}
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		body := strings.TrimSpace(text[at[1]:end])
		if body == "" {
			return "", fmt.Errorf("%s: the section of %s is empty", changelog, version)
		}
		return body, nil
	}
	return "", fmt.Errorf("%s has no section of %s", changelog, version)
}
