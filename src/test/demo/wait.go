package main

import (
	"context"
	"fmt"
	"time"
)

// look tells what is there, and whether it is what is waited for.
type look func(ctx context.Context) (seen string, done bool)

// living is what a wait depends on: when it has ended, waiting is of no use.
type living interface{ alive() error }

// lookUntil looks again and again until ctx ends, and reports each sight. Its
// error tells what was expected and what was seen.
func lookUntil(ctx context.Context, needed living, expected string, report func(seen string), look look) error {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	last := "nothing yet"
	for {
		seen, done := look(ctx)
		if done {
			return nil
		}
		// A look that the end of the time cut short saw nothing worth telling.
		if ctx.Err() == nil {
			last = seen
		}
		report(last)
		if err := needed.alive(); err != nil {
			return fmt.Errorf("waiting for %s: %w; seen last: %s", expected, err, last)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; seen last: %s", expected, context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
