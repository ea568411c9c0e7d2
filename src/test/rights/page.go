package rights

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const head = `# Rights

Generated from the code by ` + "`make generate`" + `: do not edit. These are all rights that the chart gives, and what each is
for. Tests compare them with the rules that the chart renders, and with the audit log of an API server while the operator
works: no call is refused, and no right is there that nothing uses. What the rights mean for your cluster is told in
[security](../security.md#rights).

A right that is used rarely serves situations that most installations never see; the tests bring them about.
`

// Page is docs/reference/rights.md.
func Page() string {
	var page strings.Builder
	page.WriteString(head)
	for _, part := range Parts() {
		fmt.Fprintf(&page, "\n## %s\n\nGiven %s.\n\n", part.Title, part.When)
		page.WriteString("| Resource | Verbs | What for | Used |\n| --- | --- | --- | --- |\n")
		for i := range part.Purposes {
			p := &part.Purposes[i]
			fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", p.resource(), strings.Join(p.Verbs, ", "), p.For, p.seen())
		}
	}
	return page.String()
}

// resource is how people write the resource and the name.
func (p *Purpose) resource() string {
	resource, subresource, has := strings.Cut(p.Resource, "/")
	// What begins with a slash is no resource.
	if resource == "" {
		resource, has = p.Resource, false
	}
	text := "`" + qualified(p.Group, resource) + "`"
	if has {
		text = "`" + subresource + "` of " + text
	}
	if p.Name != "" {
		text += " named `" + p.Name + "`"
	}
	return text
}

// qualified is a resource as kubectl takes it, with its subresource.
func qualified(group, resource string) string {
	if group == "" {
		return resource
	}
	resource, subresource, has := strings.Cut(resource, "/")
	if has {
		group += "/" + subresource
	}
	return resource + "." + group
}

func (p *Purpose) seen() string {
	switch {
	case p.Holder == People:
		return "by people"
	case p.Why != "":
		return string(p.Seen) + ": " + p.Why
	default:
		return string(p.Seen)
	}
}

// String is what a person would say of the right.
func (r Right) String() string {
	p := Purpose{Group: r.Group, Resource: r.Resource, Name: r.Name}
	where := ""
	if r.Home {
		where = " in the release's namespace"
	}
	return fmt.Sprintf("%s: %s %s%s", r.Holder, r.Verb, strings.ReplaceAll(p.resource(), "`", ""), where)
}

// Table shows, as Markdown, how often each right was used, and what was refused.
func (r *Report) Table() string {
	var table strings.Builder
	table.WriteString("| Part | Resource | Verbs, with the calls that used each | Not used, for |\n| --- | --- | --- | --- |\n")
	for _, part := range r.Parts {
		for i := range part.Purposes {
			p := &part.Purposes[i]
			if p.Holder == People {
				continue
			}
			used, unused := r.uses(p)
			reason := ""
			if len(unused) > 0 {
				reason = strings.Join(unused, ", ") + ": " + p.reason()
			}
			fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", part.Title, p.resource(), strings.Join(used, ", "), reason)
		}
	}
	for _, call := range slices.Sorted(maps.Keys(r.Refused)) {
		fmt.Fprintf(&table, "\nRefused while the rules were not there, %d times: %s.\n", r.Refused[call], call)
	}
	return table.String()
}

func (r *Report) uses(p *Purpose) (used, unused []string) {
	for _, right := range p.Rights() {
		if count := r.Uses[right]; count > 0 {
			used = append(used, fmt.Sprintf("%s %d", right.Verb, count))
		} else {
			unused = append(unused, right.Verb)
		}
	}
	return used, unused
}

// reason is why a right may have been used by no call.
func (p *Purpose) reason() string {
	switch p.Seen {
	case Never:
		return p.Why
	case Rarely:
		return "the situation is rare: " + p.For
	default:
		return "the part was not tried"
	}
}

// String is the report in one line, and the faults.
func (r *Report) String() string {
	rights, used, refused := 0, 0, 0
	for _, count := range r.Refused {
		refused += count
	}
	for i := range r.Parts {
		used += r.used(&r.Parts[i])
		for j := range r.Parts[i].Purposes {
			if p := &r.Parts[i].Purposes[j]; p.Holder != People {
				rights += len(p.Verbs)
			}
		}
	}
	line := fmt.Sprintf("rights: %d calls used %d of %d rights; %d were refused while the rules were not there; %d faults",
		r.Calls, used, rights, refused, len(r.Faults))
	return strings.Join(slices.Concat([]string{line}, r.Faults), "\n  ")
}
