package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// kubectlTimeout bounds one call, the deletion of objects included.
const kubectlTimeout = 90 * time.Second

// kubectl runs the control plane's own kubectl, so that the demo shows what a
// user would type and see.
type kubectl struct {
	path       string
	kubeconfig string
	// cacheDir keeps what it discovers out of the user's home.
	cacheDir string
	screen   *screen
}

// show prints the command, then what it prints.
func (k kubectl) show(ctx context.Context, args ...string) error {
	k.screen.say("%s$ kubectl %s", indent, quoted(args))
	out, err := k.run(ctx, args...)
	k.screen.show(out)
	return err
}

// run returns what the command prints.
func (k kubectl) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, kubectlTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, k.path, append([]string{"--cache-dir=" + k.cacheDir}, args...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig)
	out, err := command.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", quoted(args), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// quoted is how the arguments are typed in a shell.
func quoted(args []string) string {
	typed := make([]string, len(args))
	for i, arg := range args {
		typed[i] = arg
		if strings.ContainsAny(arg, " {}[]\"*$|&;<>()") {
			typed[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(typed, " ")
}
