package command

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/fake/wire"
)

const apiKey = "marker-key-do-not-show-3f9c"

// serve starts a fake's server, which requires a key if that is not empty.
func serve(t *testing.T, p *fake.Provider, key string) string {
	t.Helper()
	handler := wire.Handler(p)
	if key != "" {
		handler = wire.RequireKey(handler, func() string { return key })
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = Run(t.Context(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestAProviderThatConformsEndsWithStatus0(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})
	endpoint := serve(t, p, apiKey)
	status, stdout, stderr := run(t, "--endpoint="+endpoint, "--api-key-file="+file(t, apiKey+"\n"))
	if status != exitOK || !strings.HasSuffix(stdout, "\nconformance: 41 passed, 0 failed, 1 skipped\n") || stderr != "" {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	if live := p.Live(); len(live) != 0 {
		t.Errorf("left: %+v", live)
	}
}

func TestAProviderThatDoesNotConformEndsWithStatus1(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full()})
	status, stdout, _ := run(t, "--endpoint="+serve(t, p, ""), "--run=^minimum/running$", "--timeout=1ms", "--output=json")
	var report jsonReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	if status != exitFailed || report.Failed != 1 || report.Checks[0].Problem != "the VM is not Running within 1ms" {
		t.Errorf("status %d, %+v", status, report)
	}
}

func TestTheAPIKeyIsNeverShown(t *testing.T) {
	t.Parallel()
	endpoint := serve(t, fake.New(fake.Options{Capabilities: fake.Full()}), "another key")
	status, stdout, stderr := run(t, "--endpoint="+endpoint, "--api-key-file="+file(t, apiKey))
	if status != exitFailed || !strings.Contains(stderr, "the provider refused the credentials with status 401") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if strings.Contains(stdout+stderr, apiKey) {
		t.Error("the key is shown")
	}
}

func TestAnEndpointThatCannotBeReachedIsSaid(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	status, _, stderr := run(t, "--endpoint="+server.URL)
	if status != exitFailed || !strings.Contains(stderr, "the endpoint refused the connection") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

func TestWrongArgumentsEndWithStatus2(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                                                 "--endpoint is required",
		"--endpoint=x":                                     "the endpoint is not a URL with a host",
		"--endpoint=http://x y":                            `unexpected argument "y"`,
		"--no-such-flag":                                   "flag provided but not defined",
		"--endpoint=http://x --output=yaml":                "--output must be table, json or junit",
		"--endpoint=http://x --run=no-such":                "--run matches the name of no check",
		"--endpoint=http://x --run=(":                      "missing closing )",
		"--endpoint=http://x --cpu=0":                      "--cpu must be from 1 to 512",
		"--endpoint=http://x --memory=much":                "--memory must be a positive quantity",
		"--endpoint=http://x --memory=1":                   "--memory must be a multiple of 1Mi",
		"--endpoint=http://x --image=":                     "--image must not be empty",
		"--endpoint=http://x --timeout=0s":                 "--timeout and --call-timeout must be more than nothing",
		"--endpoint=http://x --api-key-file=/no/such/file": "reading the file",
		"--endpoint=http://x --api-key-file=/dev/null":     "the file is empty",
		"--endpoint=https://x --ca-file=command_test.go":   "the CA certificates hold no PEM certificate",
	} {
		status, stdout, stderr := run(t, strings.Fields(args)...)
		if status != exitUsage || !strings.Contains(stderr, want) || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

func TestHelpAndListTryNothing(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := run(t, "--help")
	if status != exitOK || !strings.Contains(stdout, "-endpoint URL") || stderr != "" {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	status, stdout, _ = run(t, "--list")
	for _, check := range conformance.Checks() {
		if status != exitOK || !strings.Contains(stdout, check.Name+"\n    "+check.Wants+"\n    "+check.Where+"\n") {
			t.Errorf("status %d, --list does not tell %s", status, check.Name)
		}
	}
}

func TestAnInterruptionRemovesWhatWasMade(t *testing.T) {
	t.Parallel()
	p := fake.New(fake.Options{Capabilities: fake.Full(), Phase: provider.PhaseRunning})
	ctx, cancel := context.WithCancel(t.Context())
	// The second VM is there, and its maker gone before it is told.
	release := make(chan struct{})
	p.Inject(fake.Fault{
		Op: provider.OperationCreate, When: fake.After, Skip: 1, Block: release,
		Hook: func(fake.Entry) { cancel(); close(release) },
	})
	var stdout, stderr bytes.Buffer
	status := Run(ctx, []string{"--endpoint=" + serve(t, p, ""), "--run=^minimum/"}, &stdout, &stderr)
	if status != exitFailed || !strings.Contains(stdout.String(), "skip  interrupted\n\nconformance: ") {
		t.Errorf("status %d, %s", status, stdout.String())
	}
	if live := p.Live(); len(live) != 0 || p.Effects()[provider.OperationCreate] != 2 {
		t.Errorf("left: %+v, effects %v", live, p.Effects())
	}
}

func TestWhatALostAnswerMadeIsRemovedOrTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		offered []string
		told    bool
	}{
		"the minimum":        {nil, true},
		"a list":             {[]string{provider.CapabilityList}, false},
		"idempotency":        {[]string{provider.CapabilityIdempotency}, false},
		"a list and its key": {[]string{provider.CapabilityIdempotency, provider.CapabilityList}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fake.New(fake.Options{Capabilities: provider.Capabilities{Offered: test.offered}, Phase: provider.PhaseRunning})
			p.Inject(fake.Fault{Op: provider.OperationCreate, When: fake.After, Class: provider.Ambiguous})
			status, stdout, _ := run(t, "--endpoint="+serve(t, p, ""), "--run=^minimum/create$")
			if status != exitFailed || !strings.Contains(stdout, "FAIL  POST /vms: the connection broke without an answer") {
				t.Errorf("status %d, %s", status, stdout)
			}
			if told := strings.Contains(stdout, "left: a VM named conformance-"); told != test.told || (len(p.Live()) != 0) != told {
				t.Errorf("told: %t, left: %+v\n%s", told, p.Live(), stdout)
			}
		})
	}
}
