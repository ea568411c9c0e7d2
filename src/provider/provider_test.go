package provider_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/example/vmoperator/src/provider"
)

func TestAnErrorSaysWhatToConcludeHoweverItIsWrapped(t *testing.T) {
	t.Parallel()
	inner := errors.New("inner")
	failure := &provider.Error{
		Op: provider.OperationGet, Class: provider.Throttled, Cause: provider.CausePaused, RetryAfter: time.Second, Err: inner,
	}
	err := fmt.Errorf("outer: %w", failure)
	if provider.ClassOf(err) != provider.Throttled || provider.CauseOf(err) != provider.CausePaused ||
		provider.RetryAfterOf(err) != time.Second || !errors.Is(err, inner) {
		t.Errorf("%v", err)
	}
	if failure.Error() != "provider get: inner" {
		t.Errorf("%v", failure)
	}
}

func TestNothingCanBeConcludedFromAnotherError(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	if provider.ClassOf(other) != provider.Ambiguous || provider.CauseOf(other) != "" || provider.RetryAfterOf(other) != 0 {
		t.Error("an error that is not a provider's says something")
	}
	if provider.ClassOf(nil) != 0 {
		t.Error("no error has a class")
	}
}

func TestClassesHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for class := provider.Class(0); class <= provider.Conflict+1; class++ {
		if name := class.String(); seen[name] && name != "unknown" {
			t.Errorf("%q twice", name)
		} else {
			seen[name] = true
		}
	}
	if len(seen) != 8 {
		t.Errorf("%v", seen)
	}
}

func TestARequestIDIsKeptOrMade(t *testing.T) {
	t.Parallel()
	ctx := provider.WithCallInfo(t.Context(), provider.CallInfo{Caller: "team/web", RequestID: "given"})
	if _, id := provider.WithRequestID(ctx); id != "given" {
		t.Errorf("%q", id)
	}
	ctx, made := provider.WithRequestID(provider.WithCallInfo(t.Context(), provider.CallInfo{Caller: "team/web"}))
	info := provider.CallInfoFrom(ctx)
	if made == "" || info.RequestID != made || info.Caller != "team/web" {
		t.Errorf("made %q, the context has %+v", made, info)
	}
	if _, again := provider.WithRequestID(t.Context()); again == made {
		t.Error("the same ID twice")
	}
}

func TestWhatTheContractKnowsIsKnown(t *testing.T) {
	t.Parallel()
	capabilities := provider.Capabilities{Offered: provider.KnownCapabilities()}
	if !slices.IsSorted(capabilities.Offered) || !capabilities.Has(provider.CapabilityResize) || capabilities.Has("teleport") {
		t.Errorf("%+v", capabilities)
	}
	for _, phase := range provider.KnownPhases() {
		if !phase.Known() {
			t.Errorf("%s is not known", phase)
		}
	}
	if provider.Phase("Migrating").Known() || provider.Phase("").Known() {
		t.Error("an unknown phase is known")
	}
}
