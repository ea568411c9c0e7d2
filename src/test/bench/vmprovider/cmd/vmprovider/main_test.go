package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestItTellsItsURLAndEndsWhenAsked(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told, stdout := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"-provision=1h", "-silence=vms"}, stdout, &stderr) }()
	url, err := bufio.NewReader(told).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(url)+"/capabilities", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != http.StatusOK {
		t.Error(response.Status)
	}
	cancel()
	if status := <-ended; status != exitOK || stderr.Len() > 0 {
		t.Errorf("exit status %d, %s", status, stderr.String())
	}
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-silence=some":         `"some" is not none, vms or all`,
		"-provision=long":       "parse error",
		"-api-key-file=/no/key": "no such file or directory",
		"extra":                 `unexpected argument "extra"`,
	} {
		var stderr bytes.Buffer
		if status := run(t.Context(), strings.Fields(args), io.Discard, &stderr); status != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit status %d, %s", args, status, stderr.String())
		}
	}
}
