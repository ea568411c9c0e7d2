package guard

import (
	"sync"
	"time"
)

const (
	// shares is the part of the workers, one in so many, that a provider may hold
	// where there is another one.
	shares = 4
	// slow is how long a call of a provider that is well takes at most.
	slow = time.Second
	// offerKept is how long a freed permit is kept for a caller that was woken and
	// does not come. Begin gives it back long before, unless the wake-up was lost. It is
	// longer than a woken caller waits for a worker: one that came too late would be
	// parked again, and so could be all, for ever.
	offerKept = 5 * time.Minute
)

// Bulkhead divides the workers of the VirtualMachine controller among providers, so
// that one that hangs cannot take them all. It counts calls with
// provider.CallInfo.Worker alone.
//
// Where it knows one provider, that may use all workers. Where it knows more, each
// holds a quarter of the workers at most, and at least one; and providers that are
// blocked hold together at most all but one. A provider is blocked while a call of
// its takes long, after one that took long or failed until one does not, and while
// its circuit is not closed.
//
// A call over the limit fails at once, and its caller is parked: it has one place in
// its provider's queue, first in, first out. A permit that becomes free is kept for
// the first in the queue, who is woken through Listen.
//
// Call NewBulkhead.
type Bulkhead struct {
	workers int
	now     func() time.Time

	mu    sync.Mutex
	cells map[*cell]struct{}
	// clients counts the clients in use, and permits those that are held and those
	// that are kept for a caller, by provider: a client may be about to be replaced.
	clients, permits map[string]int
	offers           map[string]*offer
	// sequence numbers the places in all queues.
	sequence  int
	listeners []func(caller string)
	woken     []string
}

// offer is a permit that is kept for a caller.
type offer struct {
	cell  *cell
	until time.Time
}

// NewBulkhead returns a Bulkhead for so many workers that tells the time by now.
func NewBulkhead(workers int, now func() time.Time) *Bulkhead {
	return &Bulkhead{
		workers: workers, now: now,
		cells: map[*cell]struct{}{}, clients: map[string]int{}, permits: map[string]int{}, offers: map[string]*offer{},
	}
}

// Listen registers a function that is called, on the goroutine of whoever causes
// it, with a parked caller whose call may be made now. It must not block. Without a
// listener nobody is parked.
func (b *Bulkhead) Listen(listener func(caller string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(b.listeners, listener)
}

// Begin says that a caller begins its work, and the function that it returns that
// the work is over. A permit that was kept for the caller when it began and that it
// did not use, for it may have nothing to ask any more, goes to the next one.
func (b *Bulkhead) Begin(caller string) (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.offers[caller]
	if kept == nil {
		return func() {}
	}
	return func() {
		b.mu.Lock()
		if b.offers[caller] == kept {
			b.withdraw(caller)
			b.settle(b.now())
		}
		b.mu.Unlock()
		b.tell()
	}
}

// join makes a cell known as that of a client in use.
func (b *Bulkhead) join(s *cell) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cells[s] = struct{}{}
	b.clients[s.provider]++
}

// leave takes a cell's client out of use. Whoever is parked there is woken, and
// finds what has come in its place.
func (b *Bulkhead) leave(s *cell) {
	b.mu.Lock()
	if !s.closed {
		s.closed = true
		b.clients[s.provider]--
		if b.clients[s.provider] == 0 {
			delete(b.clients, s.provider)
		}
		b.woken = append(b.woken, s.parked.takeAll()...)
		b.drop(s)
		b.settle(b.now())
	}
	b.mu.Unlock()
	b.tell()
}

// drop forgets a cell that nobody uses any more.
func (b *Bulkhead) drop(s *cell) {
	if s.closed && len(s.flights) == 0 && s.offered == 0 {
		delete(b.cells, s)
	}
}

// hold counts a permit of a provider, or with -1 one that it gives back.
func (b *Bulkhead) hold(provider string, count int) {
	b.permits[provider] += count
	if b.permits[provider] == 0 {
		delete(b.permits, provider)
	}
}

// room reports whether one more permit may be given to a cell. Whoever waits there
// has been offered one before it is asked for another: see settle.
func (b *Bulkhead) room(s *cell, now time.Time) bool {
	if s.breaker.open && (!s.breaker.due(now) || s.offered > 0) {
		return false
	}
	held := b.permits[s.provider]
	if len(b.clients) < 2 {
		return b.workers <= 0 || held < b.workers
	}
	if held >= max(1, b.workers/shares) {
		return false
	}
	return !s.blocked(now) || b.heldByBlocked(now) < max(1, b.workers-1)
}

func (b *Bulkhead) heldByBlocked(now time.Time) int {
	held := 0
	for s := range b.cells {
		if s.blocked(now) {
			held += len(s.flights) + s.offered
		}
	}
	return held
}

// settle offers what is free to those that are parked, the longest waiting first.
func (b *Bulkhead) settle(now time.Time) {
	for caller, kept := range b.offers {
		if now.After(kept.until) {
			b.withdraw(caller)
		}
	}
	for s := b.next(now); s != nil; s = b.next(now) {
		caller := s.parked.take()
		b.offer(s, caller, now)
		b.woken = append(b.woken, caller)
	}
}

// offer keeps a permit for a caller.
func (b *Bulkhead) offer(s *cell, caller string, now time.Time) {
	if b.offers[caller] != nil {
		// Of another client, which this one has replaced.
		b.withdraw(caller)
	}
	b.offers[caller] = &offer{cell: s, until: now.Add(offerKept)}
	s.offered++
	b.hold(s.provider, 1)
}

// next is the cell that may have one more permit and where somebody has waited the
// longest; nil if there is none.
func (b *Bulkhead) next(now time.Time) *cell {
	var next *cell
	for s := range b.cells {
		if s.parked.empty() || next != nil && next.parked.first() < s.parked.first() {
			continue
		}
		if b.room(s, now) {
			next = s
		}
	}
	return next
}

// withdraw takes back the permit that is kept for a caller.
func (b *Bulkhead) withdraw(caller string) {
	s := b.offers[caller].cell
	delete(b.offers, caller)
	s.offered--
	b.hold(s.provider, -1)
	b.drop(s)
}

// tell wakes whom a permit is kept for. No lock is held: a listener may come back.
func (b *Bulkhead) tell() {
	b.mu.Lock()
	woken, listeners := b.woken, b.listeners
	b.woken = nil
	b.mu.Unlock()
	for _, caller := range woken {
		for _, listener := range listeners {
			listener(caller)
		}
	}
}
