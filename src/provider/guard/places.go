package guard

// place is a parked caller's in a queue.
type place struct {
	caller string
	number int
}

// places are a queue, first in, first out, in which a caller has one place. Call
// newPlaces.
type places struct {
	queue   []place
	waiting map[string]struct{}
}

func newPlaces() places { return places{waiting: map[string]struct{}{}} }

func (p *places) empty() bool { return len(p.queue) == 0 }

// first is the number of the first place; there must be one.
func (p *places) first() int { return p.queue[0].number }

// add gives a caller the last place, unless it has one.
func (p *places) add(caller string, number int) {
	if _, waits := p.waiting[caller]; waits {
		return
	}
	p.waiting[caller] = struct{}{}
	p.queue = append(p.queue, place{caller, number})
}

// take takes the first caller out; there must be one.
func (p *places) take() string {
	caller := p.queue[0].caller
	p.queue = p.queue[1:]
	delete(p.waiting, caller)
	return caller
}

// takeAll takes all callers out, in their order.
func (p *places) takeAll() []string {
	var callers []string
	for !p.empty() {
		callers = append(callers, p.take())
	}
	return callers
}
