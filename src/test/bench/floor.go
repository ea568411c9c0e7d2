package main

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// users is how many clients do what users do, at once.
const users = 8

// begin does to all objects what the phase is about, and sends the number of each
// object to begun, if there is one, as soon as it is done.
func begin(ctx context.Context, p phase, n int, begun chan<- int) error {
	if begun != nil {
		defer close(begun)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(users)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := p.begin(ctx, i); err != nil {
				return err
			}
			if begun != nil {
				begun <- i
			}
			return nil
		})
	}
	return group.Wait()
}

// floor does the same, and then makes as many writes of each kind as were made by
// the operator, with as many workers. It reads nothing, decides nothing and waits
// for nothing: no operator that makes these writes could be faster.
func floor(ctx context.Context, p phase, n, workers int, made counts) error {
	group, ctx := errgroup.WithContext(ctx)
	begun, worked := make(chan int, n), make(chan int, n)
	group.Go(func() error { return begin(ctx, p, n, begun) })
	group.Go(func() error {
		defer close(worked)
		return each(ctx, workers, begun, func(i int) error {
			worked <- i
			return p.replay(ctx, i, n, made, false)
		})
	})
	group.Go(func() error {
		return each(ctx, workers, worked, func(i int) error { return p.replay(ctx, i, n, made, true) })
	})
	return group.Wait()
}

// each works on what comes, with a number of workers.
func each(ctx context.Context, workers int, from <-chan int, work func(int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			for i := range from {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := work(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// replay makes the writes for one object: those of the passes, or those aside.
func (p *phase) replay(ctx context.Context, i, n int, made counts, aside bool) error {
	for _, w := range p.writes {
		if w.aside != aside {
			continue
		}
		for left := share(made[w.call], n, i); left > 0; left-- {
			if err := w.do(ctx, i, left == 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// share is what object i of n gets of a number of writes, so that all are made.
func share(count, n, i int) int {
	if i < count%n {
		return count/n + 1
	}
	return count / n
}
