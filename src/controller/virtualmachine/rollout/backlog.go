package rollout

import "k8s.io/apimachinery/pkg/types"

// backlog is a queue of which anything can be taken out.
type backlog struct {
	// order may still hold what was taken out: members says what counts.
	order   []types.NamespacedName
	members map[types.NamespacedName]struct{}
}

func (b *backlog) len() int { return len(b.members) }

// push appends, unless it is there already.
func (b *backlog) push(vm types.NamespacedName) {
	if _, known := b.members[vm]; known {
		return
	}
	b.members[vm] = struct{}{}
	b.order = append(b.order, vm)
}

func (b *backlog) remove(vm types.NamespacedName) {
	delete(b.members, vm)
	if len(b.members) == 0 {
		b.order = nil
	}
}

// pop takes out the first n, or all if there are fewer.
func (b *backlog) pop(n int) []types.NamespacedName {
	var first []types.NamespacedName
	for len(first) < n && len(b.members) > 0 {
		vm := b.order[0]
		b.order = b.order[1:]
		if _, waits := b.members[vm]; waits {
			b.remove(vm)
			first = append(first, vm)
		}
	}
	return first
}
