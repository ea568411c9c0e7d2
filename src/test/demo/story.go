package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	demoDir = "out/demo"
	// stepTimeout is many times what a step takes: a machine may build something
	// else meanwhile.
	stepTimeout = 2 * time.Minute
)

// step is one part of the story. It returns an error that says what was expected
// and what was seen.
type step struct {
	name string
	run  func(context.Context, *tour) error
}

// story is what the demo shows, in order. Each step finds the world as the one
// before it left it.
var story = []step{
	{"the samples are applied, and the VMs run", createVMs},
	{"each VM has a Secret, a Service and an EndpointSlice", findChildren},
	{"a Secret is deleted, and is back", deleteSecret},
	{"a Service is edited by hand, and is put back", editService},
	{"a VM is deleted at the provider, and made again", deleteAtProvider},
	{"the provider moves, and no VM is made again", moveProvider},
	{"cpu is edited, and the VM is resized at the provider", resizeVM},
	{"conditions and events tell what happened", readEvents},
	{"an AppAutoscaler makes a Deployment; it is scaled by hand, and put back", scaleDeployment},
	{"a MyApp makes a Deployment and a Service; without ports, the Service goes", removePorts},
	{"the labeller's label is taken off a Deployment, and is back", removeLabel},
	{"kubectl delete, and nothing is left", deleteAll},
}

// tour is a walk through a world.
type tour struct {
	*world
	// names of the VMs, sorted; the steps about one VM are about the first.
	names []string
}

// demo walks through the whole story in a world of its own.
func demo(ctx context.Context, screen *screen) (err error) {
	lock, err := acquire(demoDir)
	if err != nil {
		return err
	}
	defer lock.Close()
	passed, began := 0, screen.now()
	defer func() {
		if err == nil {
			screen.say("\nIt took %s. The logs are in %s.", seconds(screen.now().Sub(began)), demoDir)
		}
		screen.say("demo: %d of %d steps passed", passed, len(story))
	}()
	w, err := startWorld(ctx, screen, plan{dir: demoDir, providerFlags: []string{"--provision-seconds", "2"}})
	if err != nil {
		return err
	}
	passed, err = tell(ctx, &tour{world: w}, story)
	if err != nil {
		err = fmt.Errorf("%w\nthe last lines of %s:\n%s", err, w.operator.logPath, w.operator.lastLog())
	}
	return errors.Join(err, w.stop())
}

// tell runs the steps until one fails, and returns how many passed.
func tell(ctx context.Context, t *tour, steps []step) (int, error) {
	for i, step := range steps {
		title := fmt.Sprintf("step %d of %d: %s", i+1, len(steps), step.name)
		t.screen.say("\n%s", title)
		began := t.screen.now()
		if err := within(ctx, stepTimeout, t, step.run); err != nil {
			return i, fmt.Errorf("%s: %w", title, err)
		}
		t.screen.say("%sok, %s", indent, seconds(t.screen.now().Sub(began)))
	}
	return len(steps), nil
}

func within(ctx context.Context, limit time.Duration, t *tour, run func(context.Context, *tour) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	return run(ctx, t)
}

// until waits for what look looks for, and shows that it waits.
func (t *tour) until(ctx context.Context, expected string, look look) error {
	p := t.screen.progress(expected)
	defer p.end()
	return lookUntil(ctx, t.operator, expected, p.tick, look)
}
