package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestThePlanIsReadFromFlags(t *testing.T) {
	t.Parallel()
	got, err := parse([]string{"-sizes=5, 70", "-resync=10s", "-rounds=3", "-out=x.json"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := plan{sizes: []int{5, 70}, resync: 10 * time.Second, rounds: 3, out: "x.json"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(plan{})); diff != "" {
		t.Error(diff)
	}
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-sizes=many": `"many" is not a number of objects`,
		"-sizes=10,0": `"0" is not a number of objects`,
		"-resync=1s":  "-resync must be at least 10s",
		"-rounds=0":   "-rounds must be at least 1",
		"extra":       `unexpected argument "extra"`,
	} {
		var stderr bytes.Buffer
		if got := run(strings.Fields(args), io.Discard, &stderr); got != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit status %d, %s", args, got, stderr.String())
		}
	}
}
