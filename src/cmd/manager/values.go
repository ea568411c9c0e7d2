package main

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// allNamespaces is what --watch-namespaces means by all of them.
const allNamespaces = "*"

// split returns the members of a comma-separated list.
func split(value string) []string {
	var members []string
	for member := range strings.SplitSeq(value, ",") {
		if member = strings.TrimSpace(member); member != "" {
			members = append(members, member)
		}
	}
	return members
}

func parseNamespaces(value string, namespaces *[]string) error {
	names := split(value)
	for _, name := range names {
		if name == allNamespaces {
			if len(names) > 1 {
				return errors.New("* already means all namespaces")
			}
			continue
		}
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("%q cannot be a namespace: %s", name, problems[0])
		}
	}
	slices.Sort(names)
	*namespaces = slices.Compact(names)
	return nil
}

func parseControllers(value string, controllers *[]string) error {
	names := split(value)
	for _, name := range names {
		if err := checkController(name); err != nil {
			return err
		}
	}
	*controllers = names
	return nil
}

func checkController(name string) error {
	if known := controllerNames(); !slices.Contains(known, name) {
		return fmt.Errorf("there is no controller %q, but %s", name, strings.Join(known, ", "))
	}
	return nil
}

// parseWorkers changes the number of each controller that value names.
func parseWorkers(value string, workers map[string]int) error {
	for _, member := range split(value) {
		name, number, named := strings.Cut(member, "=")
		if !named {
			number = name
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of at least 1", number)
		}
		if named {
			if err := checkController(name); err != nil {
				return err
			}
			workers[name] = n
			continue
		}
		for _, name := range controllerNames() {
			workers[name] = n
		}
	}
	return nil
}

func shownWorkers(workers map[string]int) string {
	members := make([]string, 0, len(workers))
	for _, name := range slices.Sorted(maps.Keys(workers)) {
		members = append(members, name+"="+strconv.Itoa(workers[name]))
	}
	return strings.Join(members, ",")
}

func parsePrefixes(value string, prefixes *[]netip.Prefix) error {
	for _, cidr := range split(value) {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return fmt.Errorf("%q is not a CIDR such as 10.0.0.0/8", cidr)
		}
		*prefixes = append(*prefixes, prefix.Masked())
	}
	return nil
}

// checkEndpoint asks for what a ProviderConfig's schema would: a mistake is seen
// at the start, not in each namespace. It does not repeat the value, which may
// hold a password.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" ||
		strings.ContainsAny(endpoint, "?#@") {
		return errors.New("--default-provider-endpoint must be an http or https URL with a host and without user, query and fragment")
	}
	return nil
}
