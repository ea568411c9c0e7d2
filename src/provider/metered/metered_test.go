package metered_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/example/vmoperator/src/metrics"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
	"github.com/example/vmoperator/src/provider/metered"
)

// The tests share the metrics, and so do not run at the same time.

// ticking is a clock on which every look is a second after the last.
func ticking() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func TestEveryCallIsTimedAndLoggedWithItsOutcome(t *testing.T) {
	metrics.ProviderCallDuration.Reset()
	var lines []string
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 1})
	ctx := logr.NewContext(t.Context(), log)
	ctx = provider.WithCallInfo(ctx, provider.CallInfo{RequestID: "request-1"})
	client := metered.New(fake.New(fake.Options{Capabilities: fake.Full()}), ticking())

	made, err := client.Create(ctx, "k", provider.CreateRequest{Image: "ubuntu"})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []func() error{
		func() error { _, err := client.Capabilities(ctx); return err },
		func() error { _, err := client.Get(ctx, made.ID); return err },
		func() error { _, err := client.FindByKey(ctx, "k"); return err },
		func() error { _, err := client.List(ctx, ""); return err },
		func() error { _, err := client.Resize(ctx, made.ID, provider.Size{CPU: 2}); return err },
		func() error { return client.Delete(ctx, made.ID) },
	} {
		if err := call(); err != nil {
			t.Error(err)
		}
	}
	if err := client.Delete(ctx, made.ID); provider.ClassOf(err) != provider.NotFound {
		t.Error(err)
	}

	for operation, outcomes := range map[provider.Operation][]string{
		provider.OperationCapabilities: {"ok"}, provider.OperationCreate: {"ok"}, provider.OperationGet: {"ok"},
		provider.OperationFind: {"ok"}, provider.OperationList: {"ok"}, provider.OperationResize: {"ok"},
		provider.OperationDelete: {"ok", "not_found"},
	} {
		for _, outcome := range outcomes {
			if count, sum := observed(t, operation, outcome); count != 1 || sum != 1 {
				t.Errorf("%s %s: %d calls of %v s, want 1 of 1 s", operation, outcome, count, sum)
			}
		}
	}
	want := `"level"=1 "msg"="Called the provider" "operation"="delete" "outcome"="not_found" "duration"="1s" "requestID"="request-1"`
	if diff := cmp.Diff(want, lines[len(lines)-1]); diff != "" || len(lines) != 8 {
		t.Errorf("%d lines, the last one:\n%s", len(lines), diff)
	}
}

func TestACallThatWasHeldBackIsCountedAndNotTimed(t *testing.T) {
	metrics.ProviderCallDuration.Reset()
	metrics.ProviderThrottled.Reset()
	behind := fake.New(fake.Options{})
	client := metered.New(behind, nil)
	causes := []provider.Cause{provider.CauseLocalLimit, provider.CausePaused, provider.CauseBulkhead, provider.CauseCircuit, ""}
	for _, cause := range causes {
		behind.Inject(fake.Fault{Class: provider.Throttled, Cause: cause})
		if _, err := client.Get(t.Context(), "vm-1"); provider.CauseOf(err) != cause {
			t.Error(err)
		}
	}
	for _, reason := range []string{
		metrics.ThrottledByLimit, metrics.ThrottledByPause, metrics.ThrottledByBulkhead, metrics.ThrottledByCircuit,
		metrics.ThrottledByProvider,
	} {
		if count := testutil.ToFloat64(metrics.ProviderThrottled.WithLabelValues(reason)); count != 1 {
			t.Errorf("%s: %v, want 1", reason, count)
		}
	}
	if count, _ := observed(t, provider.OperationGet, "throttled"); count != 1 {
		t.Errorf("%d calls are timed, want the one that was made", count)
	}
}

func TestTheProviderGetsTheRequestIDThatIsLogged(t *testing.T) {
	var line string
	log := funcr.New(func(_, args string) { line = args }, funcr.Options{Verbosity: 1})
	client := metered.New(seeing{fake.New(fake.Options{})}, nil)
	_, err := client.Get(logr.NewContext(t.Context(), log), "vm-1")
	if err == nil || err.Error() == "" || !strings.Contains(line, `"requestID"="`+err.Error()+`"`) {
		t.Errorf("the provider got %v, the log says %s", err, line)
	}
}

// observed is what the histogram has of an operation and an outcome.
func observed(t *testing.T, operation provider.Operation, outcome string) (count uint64, sum float64) {
	t.Helper()
	var metric dto.Metric
	histogram, err := metrics.ProviderCallDuration.MetricVec.GetMetricWithLabelValues(string(operation), outcome)
	if err != nil {
		t.Fatal(err)
	}
	if err := histogram.Write(&metric); err != nil {
		t.Fatal(err)
	}
	return metric.GetHistogram().GetSampleCount(), metric.GetHistogram().GetSampleSum()
}
