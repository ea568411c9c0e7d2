package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	created   = `{"stage":"ResponseComplete","verb":"create","user":{"username":"vmoperator"},"objectRef":{"resource":"deployments","apiGroup":"apps"},"responseStatus":{"code":201}}`
	patched   = `{"stage":"ResponseComplete","verb":"patch","user":{"username":"vmoperator"},"objectRef":{"resource":"appautoscalers","subresource":"status"},"responseStatus":{"code":200}}`
	refused   = `{"stage":"ResponseComplete","verb":"patch","user":{"username":"vmoperator"},"objectRef":{"resource":"deployments"},"responseStatus":{"code":409}}`
	read      = `{"stage":"ResponseComplete","verb":"get","user":{"username":"vmoperator"},"objectRef":{"resource":"deployments"},"responseStatus":{"code":200}}`
	review    = `{"stage":"ResponseComplete","verb":"create","user":{"username":"vmoperator"},"objectRef":{"resource":"selfsubjectaccessreviews","apiGroup":"authorization.k8s.io"}}`
	heartbeat = `{"stage":"ResponseComplete","verb":"update","user":{"username":"vmoperator"},"objectRef":{"resource":"leases"},"responseStatus":{"code":200}}`
	watched   = `{"stage":"ResponseStarted","verb":"watch","user":{"username":"vmoperator"},"objectRef":{"resource":"deployments"}}`
	others    = `{"stage":"ResponseComplete","verb":"create","user":{"username":"admin"},"objectRef":{"resource":"deployments"},"responseStatus":{"code":201}}`
	probe     = `{"stage":"ResponseComplete","verb":"get","user":{"username":"vmoperator"},"requestURI":"/version"}`
)

// logWith is an audit log with these lines, the last of which may lack its end.
func logWith(t *testing.T, lines string) *auditLog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return newAuditLog(path)
}

func grow(t *testing.T, log *auditLog, lines string) {
	t.Helper()
	file, err := os.OpenFile(log.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(lines); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, log *auditLog) tally {
	t.Helper()
	got, err := log.of(operatorUser)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheOperatorsRequestsAreCountedByWhatTheyAre(t *testing.T) {
	t.Parallel()
	log := logWith(t, created+"\n"+patched+"\n"+patched+"\n"+refused+"\n"+read+"\n"+review+"\n"+heartbeat+"\n"+watched+"\n"+others+"\n"+probe+"\n")
	want := tally{
		writes: counts{"create deployments": 1, "patch appautoscalers/status": 2}, refused: 1,
		reads: counts{"get deployments": 1, "create selfsubjectaccessreviews": 1}, watches: 1, heartbeats: 1,
	}
	if diff := cmp.Diff(want, mustRead(t, log), cmp.AllowUnexported(tally{})); diff != "" {
		t.Error(diff)
	}
}

func TestALineThatIsNotWholeYetIsCountedOnceItIs(t *testing.T) {
	t.Parallel()
	log := logWith(t, created+"\n"+created[:20])
	before := mustRead(t, log)
	if before.writes.total() != 1 {
		t.Errorf("counted %v", before.writes)
	}
	grow(t, log, created[20:]+"\n"+patched+"\n")
	want := counts{"create deployments": 1, "patch appautoscalers/status": 1}
	if diff := cmp.Diff(want, mustRead(t, log).since(before).writes); diff != "" {
		t.Error(diff)
	}
}

func TestALogThatWasBegunAnewIsAnError(t *testing.T) {
	t.Parallel()
	log := logWith(t, created+"\n"+created+"\n")
	mustRead(t, log)
	if err := os.WriteFile(log.path, []byte(created+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := log.of(operatorUser); err == nil {
		t.Errorf("counted %v", got)
	}
}
