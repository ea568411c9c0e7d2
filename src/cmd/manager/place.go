package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// namespaceFile is where a pod finds its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// ownNamespace is the namespace that the operator runs in; empty outside a
// cluster.
func ownNamespace() string {
	if namespace := os.Getenv("POD_NAMESPACE"); namespace != "" {
		return namespace
	}
	content, err := os.ReadFile(namespaceFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// place settles what depends on where the operator runs.
type place struct {
	// home has the leader's lease, and the claim to all namespaces.
	home string
	// release is the same for all replicas of one installation, and for no other.
	release string
	// namespaces to work in; none means all.
	namespaces []string
}

func (o *options) place(own string) (place, error) {
	p := place{home: o.leaderElection.namespace, namespaces: o.watchNamespaces}
	if p.home == "" {
		p.home = own
	}
	switch {
	case p.home != "":
		p.release = p.home + "/" + leaderElectionID
	case o.leaderElection.enabled:
		return p, errors.New("--leader-elect outside a cluster needs --leader-election-namespace")
	default:
		host, err := os.Hostname()
		if err != nil {
			return p, fmt.Errorf("finding a name for this process: %w", err)
		}
		p.home, p.release = "default", "outside the cluster, on "+host
	}
	if len(p.namespaces) == 0 && own != "" {
		p.namespaces = []string{own}
	}
	if len(p.namespaces) == 1 && p.namespaces[0] == allNamespaces {
		p.namespaces = nil
	}
	if len(p.namespaces) == 0 && o.defaultEndpoint != "" {
		return p, errors.New("--default-provider-endpoint needs --watch-namespaces: it is not for all namespaces that there will ever be")
	}
	if len(p.namespaces) == 0 && o.keepRoleBinding != "" {
		return p, errors.New("--keep-role-binding needs --watch-namespaces: rights in all namespaces do not go with one of them")
	}
	return p, nil
}
