package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oneSize has a contender whose steady state costs nothing, and one whose steady
// state was not measured.
const oneSize = `{"virtualMachines": [{"objects": 100, "contenders": [
	{"name": "vmoperator", "create": {"operator": {"seconds": 3}, "floor": {"seconds": 2}},
	 "steady": {"seconds": 90, "intervalSeconds": 30, "calls": {"list": 3}}, "memory": {"peakBytes": 70000000}},
	{"name": "handbook-1", "create": {"operator": {"seconds": 9}}, "steady": {"seconds": 30, "intervalSeconds": 30, "calls": {}},
	 "memory": {"peakBytes": 60000000}},
	{"name": "handbook-5", "create": {"operator": {"seconds": 5}}, "memory": {"peakBytes": 60000000}}]}]}`

func plotted(t *testing.T, figures string) (status int, drawn []byte, said string) {
	t.Helper()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "bench.json"), filepath.Join(dir, "plot.svg")
	if err := os.WriteFile(from, []byte(figures), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	status = run([]string{from, to}, &stderr)
	drawn, err := os.ReadFile(to)
	if err != nil && status == exitOK {
		t.Fatal(err)
	}
	return status, drawn, stderr.String()
}

func TestTheSameFiguresGiveTheSameFile(t *testing.T) {
	t.Parallel()
	_, one, _ := plotted(t, oneSize)
	if _, other, _ := plotted(t, oneSize); !bytes.Equal(one, other) {
		t.Error("they differ")
	}
}

func TestThePlotNamesWhatItCompares(t *testing.T) {
	t.Parallel()
	status, drawn, said := plotted(t, oneSize)
	if status != exitOK {
		t.Fatal(said)
	}
	var texts []string
	decoder := xml.NewDecoder(bytes.NewReader(drawn))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
	all := "\n" + strings.Join(texts, "\n") + "\n"
	for want, times := range map[string]int{
		"vmoperator": 3, "handbook-1": 2, "handbook-1: none": 1, "handbook-5": 2,
		"the floor: bare clients": 1, "one GET for each VM": 1, "VirtualMachines": 3, "1,000": 4,
	} {
		if got := strings.Count(all, "\n"+want+"\n"); got != times {
			t.Errorf("%q stands there %d times, want %d", want, got, times)
		}
	}
}

func TestWhatCannotBeDrawnIsAnError(t *testing.T) {
	t.Parallel()
	for figures, want := range map[string]string{
		`{"appAutoscalers": []}`:                "the figures tell of no VirtualMachines",
		`{"virtualMachines": [{"objects": 5}]}`: "there is nothing to draw",
		`nothing`:                               "reading the figures",
	} {
		if status, _, said := plotted(t, figures); status != exitFailed || !strings.Contains(said, want) {
			t.Errorf("%s: exit status %d, %s", figures, status, said)
		}
	}
	var stderr bytes.Buffer
	if status := run(nil, &stderr); status != exitUsage {
		t.Errorf("no arguments: exit status %d", status)
	}
}
