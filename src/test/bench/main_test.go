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
	got, err := parse([]string{"-subjects=appautoscalers", "-sizes=5, 70", "-resync=10s", "-poll=2s", "-provision=1s", "-handbook=9", "-other=run it", "-rounds=3", "-out=x.json"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.subjects) != 1 || got.subjects[0].name != "appautoscalers" {
		t.Errorf("subjects: %v", got.subjects)
	}
	got.subjects = nil
	want := plan{
		sizes: []int{5, 70}, resync: 10 * time.Second, poll: 2 * time.Second, provision: time.Second,
		comparable: 9, other: "run it", rounds: 3, out: "x.json",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(plan{})); diff != "" {
		t.Error(diff)
	}
}

func TestEachSubjectHasSizesOfItsOwn(t *testing.T) {
	t.Parallel()
	p, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]int{}
	for _, s := range p.subjects {
		got[s.name] = p.of(s)
	}
	want := map[string][]int{"appautoscalers": {100, 1000}, "virtualmachines": {100, 1000, 10000}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheHandbooksOperatorIsMeasuredWithAsManyObjectsAsItIsMeantFor(t *testing.T) {
	t.Parallel()
	p, err := parse([]string{"-other=run it"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int][]string{
		1000:  {"vmoperator", "handbook-1", "handbook-5", "other"},
		10000: {"vmoperator", "other"},
	} {
		var got []string
		for _, c := range p.contenders(n) {
			got = append(got, c.name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d: %s", n, diff)
		}
	}
	if p.detailed() != 1000 {
		t.Errorf("a life is tried with %d", p.detailed())
	}
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-sizes=many": `"many" is not a number of objects`,
		"-sizes=10,0": `"0" is not a number of objects`,
		"-resync=1s":  "-resync must be at least 10s",
		"-poll=10ms":  "-poll must be at least 1s",
		"-rounds=0":   "-rounds must be at least 1",
		"-subjects=x": `"x" is none of appautoscalers,virtualmachines`,
		"extra":       `unexpected argument "extra"`,
	} {
		var stderr bytes.Buffer
		if got := run(strings.Fields(args), io.Discard, &stderr); got != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit status %d, %s", args, got, stderr.String())
		}
	}
}
