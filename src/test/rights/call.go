package rights

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Call is what was asked of the apiserver, and the answer of its authorizer.
type Call struct {
	// Holder made the call, of the release in the namespace Home.
	Holder Holder
	Home   string
	// Group and Resource are what it was about, as in "virtualmachines/status"; of a
	// path that is no resource, Resource is that path.
	Group, Resource string
	Verb            string
	// Namespace is empty for all namespaces, and for what is in none.
	Namespace string
	// Name is empty for all objects.
	Name string
	// Refused: no rule allows it.
	Refused bool
}

// agent is how the operator and its commands begin to introduce themselves. Others
// may act in the name of its service accounts, to try what these can do.
const agent = "vmoperator/"

// decision is the annotation that tells the authorizer's answer. A status does not:
// admission refuses with 403 as well.
const (
	decision = "authorization.k8s.io/decision"
	allow    = "allow"
)

// readCalls returns the calls of the chart's service accounts in an audit log of
// JSON lines, each once, and how often it was made. A line that is not whole yet is
// left out.
func readCalls(log io.Reader) (map[Call]int, error) {
	calls := map[Call]int{}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return calls, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		if !bytes.Contains(line, []byte(agent)) {
			continue
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		if call, ours := callOf(&event); ours {
			calls[call]++
		}
	}
}

// callOf reports false for an event that tells of no call of ours. A watch has an
// event when it begins and one when it ends; the second is left out.
func callOf(event *auditv1.Event) (Call, bool) {
	home, account, isAccount := serviceAccount(event.User.Username)
	holder, isOurs := holderOf(account)
	answer, decided := event.Annotations[decision]
	ended := event.Stage == auditv1.StageResponseComplete && event.Verb == "watch" && answer == allow
	if !isAccount || !isOurs || !decided || ended || !strings.HasPrefix(event.UserAgent, agent) {
		return Call{}, false
	}
	call := Call{Holder: holder, Home: home, Verb: event.Verb, Refused: answer != allow}
	if about := event.ObjectRef; about != nil {
		call.Group, call.Resource, call.Namespace, call.Name = about.APIGroup, about.Resource, about.Namespace, about.Name
		if about.Subresource != "" {
			call.Resource += "/" + about.Subresource
		}
	} else {
		call.Resource, _, _ = strings.Cut(event.RequestURI, "?")
	}
	return call, true
}

func serviceAccount(user string) (namespace, name string, ok bool) {
	account, found := strings.CutPrefix(user, "system:serviceaccount:")
	namespace, name, whole := strings.Cut(account, ":")
	return namespace, name, found && whole
}

// forEveryone reports whether Kubernetes lets every authenticated user make the
// call: reviews about oneself, and what tells which APIs there are.
func (c Call) forEveryone() bool {
	return strings.HasPrefix(c.Resource, "/") || c.Group == "authorization.k8s.io" && strings.HasPrefix(c.Resource, "selfsubject")
}

// String is what a person would say of the call.
func (c Call) String() string {
	where := "in all namespaces"
	switch c.Namespace {
	case "":
	case c.Home:
		where = "in the release's namespace"
	default:
		where = "in another namespace"
	}
	return fmt.Sprintf("%s: %s %s %s", c.Holder, c.Verb, qualified(c.Group, c.Resource), where)
}
