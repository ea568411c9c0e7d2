package decide

import "time"

const (
	// few orphans are never in doubt for their number.
	few = 5
	// share is the part of all VMs, one in this many, that more must be orphans than.
	share = 10
	// fewestOfAll is how many VMs there must be for all to count.
	fewestOfAll = 2
)

// Many reports whether so many of a ProviderConfig's VMs are orphans that the
// cluster is more likely to be wrong than they are: more than a tenth and at least
// five, or all and at least two. Objects that were lost by accident look the same.
func Many(orphans, vms int) bool {
	return orphans >= few && orphans*share > vms || orphans == vms && orphans >= fewestOfAll
}

// Looks is how the operator has looked after a ProviderConfig's orphans. The
// times are those of clocks on walls, to the second, for they are stored.
type Looks struct {
	// LookedAt is when it last did; zero for never.
	LookedAt time.Time
	// DoubtedAt is since when it is in doubt that orphans may be deleted; zero if it
	// is not.
	DoubtedAt time.Time
}

// Confirmed reports whether a person has answered the doubt: confirmation is the
// text of its time.
func (l Looks) Confirmed(confirmation string) bool {
	return !l.DoubtedAt.IsZero() && confirmation == Confirmation(l.DoubtedAt)
}

// Confirmation is what answers a doubt.
func Confirmation(doubtedAt time.Time) string { return doubtedAt.UTC().Format(time.RFC3339) }

// Next is what is stored of a look at now, when longest is how long a break may be
// and many says that there are very many orphans.
//
// After a longer break this may be a copy of a cluster, restored from a backup,
// with the UIDs of another one that goes on: what that has made since looks like
// orphans here. Nothing in the copy can tell, but that its clock has moved on.
func (l Looks) Next(now time.Time, longest time.Duration, many bool, confirmation string) Looks {
	next := Looks{LookedAt: now, DoubtedAt: l.DoubtedAt}
	switch {
	case !l.LookedAt.IsZero() && now.Sub(l.LookedAt) > longest:
		next.DoubtedAt = now
	case l.DoubtedAt.IsZero() && many:
		next.DoubtedAt = now
	case l.Confirmed(confirmation) && !many:
		// Answered and over: the next doubt is another one.
		next.DoubtedAt = time.Time{}
	}
	return next
}
