package controlplane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy logs every write with what was sent, and of Secrets only that it was.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
  resources: [{group: "", resources: [secrets]}]
- level: Request
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// auditAllPolicy logs that every request was made, and nothing of what was sent.
const auditAllPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// audit makes kube-apiserver log writes, or all requests, to a file.
func (c *ControlPlane) audit(path string, all bool) error {
	policy, rules := filepath.Join(c.guard.dir, "audit-policy.yaml"), auditPolicy
	if all {
		rules = auditAllPolicy
	}
	if err := os.WriteFile(policy, []byte(rules), 0o600); err != nil {
		return err
	}
	// By default kube-apiserver begins another file after 100 MB, and who reads this one would miss the rest.
	const megabytes = "1000000"
	c.servers.APIServer.Configure().Set("audit-policy-file", policy).Set("audit-log-path", path).Set("audit-log-maxsize", megabytes)
	return nil
}

// ReadAuditLog returns the requests in a file that Options.AuditLog named, in the
// order in which they were answered. A line that is not whole yet is left out.
func ReadAuditLog(path string) ([]auditv1.Event, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	var events []auditv1.Event
	for line := range bytes.Lines(content) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		events = append(events, event)
	}
	return events, nil
}
