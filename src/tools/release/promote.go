package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	remote = "origin"
	branch = "main"
	// How often a push may lose against another one before it is given up.
	pushes = 10
)

// An image that is built from main has the commit as its tag.
var revision = regexp.MustCompile(`^[0-9a-f]{40}$`)

// promote commits the images to a values file on the remote's main branch. What the clone has checked out is not touched. A
// push that loses a race is tried again on what won; an image older than the one in the file is left out.
func promote(ctx context.Context, out io.Writer, imagesDir, values string) error {
	pushed, err := readImages(imagesDir)
	if err != nil {
		return err
	}
	aside, err := os.MkdirTemp("", "promote-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	here := repository(".")
	if _, err := here.git(ctx, "fetch", "--quiet", remote, branch); err != nil {
		return err
	}
	tree := repository(filepath.Join(aside, "tree"))
	if _, err := here.git(ctx, "worktree", "add", "--quiet", "--detach", string(tree), "FETCH_HEAD"); err != nil {
		return err
	}
	err = tree.promote(ctx, out, values, pushed)
	_, removed := here.git(context.WithoutCancel(ctx), "worktree", "remove", "--force", string(tree))
	return errors.Join(err, removed)
}

// repository is a work tree of git.
type repository string

func (r repository) promote(ctx context.Context, out io.Writer, values string, pushed images) error {
	for range pushes {
		written, err := r.write(ctx, values, pushed)
		if err != nil {
			return err
		}
		if !written {
			fmt.Fprintf(out, "release: %s has %s already, or a later one\n", values, pushed.operator.tag)
			return nil
		}
		message := fmt.Sprintf("Deploy %s\n\n%s\n%s", pushed.operator.tag, pushed.operator.reference(), pushed.mock.reference())
		if _, err := r.git(ctx, "commit", "--quiet", "--message", message, "--", values); err != nil {
			return err
		}
		lost, err := r.push(ctx)
		if err != nil {
			return err
		}
		if !lost {
			fmt.Fprintf(out, "release: %s has %s\n", values, pushed.operator.tag)
			return nil
		}
	}
	return fmt.Errorf("%d pushes lost against others", pushes)
}

// write puts the images into the values, and tells whether that changed them.
func (r repository) write(ctx context.Context, values string, pushed images) (bool, error) {
	path := filepath.Join(string(r), values)
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	tag, err := find(string(text), append(slices.Clip(imageKey), "tag"))
	if err != nil {
		return false, fmt.Errorf("%s: %w", values, err)
	}
	// A build that took longer, or that was run again, must not undo the deployment of what was merged after it.
	if later, err := r.follows(ctx, tag.Value, pushed.operator.tag); err != nil || later {
		return false, err
	}
	changed, err := pin(string(text), imageKey, pushed.operator)
	if err != nil {
		return false, fmt.Errorf("%s: %w", values, err)
	}
	if changed, err = pin(changed, mockImageKey, pushed.mock); err != nil {
		return false, fmt.Errorf("%s: %w", values, err)
	}
	if changed == string(text) {
		return false, nil
	}
	return true, os.WriteFile(path, []byte(changed), 0o644)
}

// follows tells whether a commit has another one, of the same branch, among those before it.
func (r repository) follows(ctx context.Context, later, earlier string) (bool, error) {
	if later == earlier || !revision.MatchString(later) || !revision.MatchString(earlier) {
		return false, nil
	}
	_, err := r.git(ctx, "merge-base", "--is-ancestor", earlier, later)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// push tells whether another push was faster; the work tree is then what that one made of the branch.
func (r repository) push(ctx context.Context) (lost bool, err error) {
	_, refused := r.git(ctx, "push", "--quiet", remote, "HEAD:refs/heads/"+branch)
	if refused == nil {
		return false, nil
	}
	if _, err := r.git(ctx, "fetch", "--quiet", remote, branch); err != nil {
		return false, errors.Join(refused, err)
	}
	// Where the branch is still the one that the commit was made on, nobody was faster: a right is missing, or a rule forbids.
	if _, err := r.git(ctx, "merge-base", "--is-ancestor", "FETCH_HEAD", "HEAD"); err == nil {
		return false, refused
	}
	_, err = r.git(ctx, "reset", "--quiet", "--hard", "FETCH_HEAD")
	return err == nil, err
}

func (r repository) git(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = string(r)
	out, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
