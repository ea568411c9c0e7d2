package faults

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/mockprovider"
)

// Table is all rows. A row's Name, At and During together are its own.
func Table() []Row {
	return slices.Concat(
		creating(), creatingAtTheMinimum(), notShown(), looking(), retryAfter(), finding(), resizing(), deleting(),
	)
}

const (
	forever = -1
	before  = "before"
	after   = "after"

	// shortTimeout is the ProviderConfig's where an answer comes too late, and late
	// how long it takes, in seconds.
	shortTimeout = 2 * time.Second
	late         = 5
	// pause is what Retry-After asks for, in seconds.
	pause     = 2 * time.Second
	pauseText = "2"
)

// Reasons of events that are no reasons of conditions are not here: only warnings
// are counted.
type warns = map[string]int

type calls = map[string]int

// held are the conditions of an object whose VM is not known to exist.
func held(reason string) []Condition {
	return []Condition{
		{computev1.ConditionReady, metav1.ConditionFalse, reason},
		{computev1.ConditionSynced, metav1.ConditionFalse, reason},
		{computev1.ConditionReconciling, metav1.ConditionTrue, reason},
	}
}

// stalled are those of one that needs a person.
func stalled(reason string) []Condition {
	return []Condition{
		{computev1.ConditionReady, metav1.ConditionFalse, reason},
		{computev1.ConditionSynced, metav1.ConditionFalse, reason},
		{computev1.ConditionStalled, metav1.ConditionTrue, reason},
	}
}

// still are those of an object whose VM was seen running before.
func still(conditions []Condition) []Condition {
	conditions[0] = running
	return conditions
}

var running = Condition{computev1.ConditionReady, metav1.ConditionTrue, computev1.ReasonRunning}

// untold is for a VM that goes on as if nothing had happened.
var untold = []Condition{running, {computev1.ConditionSynced, metav1.ConditionTrue, computev1.ReasonSynced}}

// leaving are those of an object that is being deleted.
func leaving(conditions []Condition) []Condition {
	return slices.DeleteFunc(conditions, func(c Condition) bool { return c.Type == computev1.ConditionReady })
}

// one is a fault that lasts.
func one(fault mockprovider.Fault) []mockprovider.Fault {
	fault.Count = forever
	return []mockprovider.Fault{fault}
}

// failing are the ways in which a call fails so that nobody knows how far it came.
func failing(operation, when string) []Row {
	effect := map[string]string{before: ", without effect", after: ", with effect"}[when]
	return []Row{
		{Name: "answers 500" + effect, Faults: one(mockprovider.Fault{Operation: operation, When: when, Status: 500})},
		{Name: "answers 502" + effect, Faults: one(mockprovider.Fault{Operation: operation, When: when, Status: 502})},
		{Name: "cuts the connection" + effect, Faults: one(mockprovider.Fault{Operation: operation, When: when, Drop: true})},
		{
			Name: "answers too late" + effect, Timeout: shortTimeout,
			Faults: one(mockprovider.Fault{Operation: operation, When: when, LatencySeconds: late}),
		},
	}
}

// each makes rows alike in all that makes changes.
func each(rows []Row, change func(*Row)) []Row {
	for i := range rows {
		change(&rows[i])
	}
	return rows
}

// refused are the statuses that say that the credentials may not do this.
func refused(operation string) []Row {
	return []Row{
		{Name: "answers 401", Faults: one(mockprovider.Fault{Operation: operation, Status: 401})},
		{Name: "answers 403", Faults: one(mockprovider.Fault{Operation: operation, Status: 403})},
	}
}

// throttled is a provider that asks for a pause.
func throttled(operation string, status int) Row {
	return Row{
		Name: "answers " + map[int]string{429: "429", 503: "503"}[status] + " and Retry-After", Class: provider.Throttled,
		Faults: one(mockprovider.Fault{Operation: operation, Status: status, RetryAfter: pauseText}),
		Pace:   AfterPause, Pause: pause,
	}
}
