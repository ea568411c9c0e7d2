// Command vmprovider serves the provider for benchmarks; see package vmprovider.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/example/vmoperator/src/test/bench/vmprovider"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// headerTimeout is that of a client that sends nothing.
const headerTimeout = 10 * time.Second

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns when ctx ends or a signal comes.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	listen, options, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	if err := serve(ctx, listen, options, stdout); err != nil {
		fmt.Fprintf(stderr, "vmprovider: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// parse says itself what is wrong with the arguments.
func parse(args []string, stderr io.Writer) (listen string, options vmprovider.Options, err error) {
	flags := flag.NewFlagSet("vmprovider", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&listen, "listen", "127.0.0.1:0", "Address to listen on; port 0 is a free one.")
	flags.DurationVar(&options.Provision, "provision", 0, "How long a VM is Provisioning; 0 makes it Running from the start.")
	flags.DurationVar(&options.Delete, "delete", 0, "How long a VM is Deleting; 0 lets it go with the call.")
	flags.Func("api-key-file", "File with the API key that must come with every call. (default: none is asked for)", func(path string) error {
		text, err := os.ReadFile(path)
		options.APIKey = string(bytes.TrimSpace(text))
		return err
	})
	flags.Func("silence", "Which calls get no answer: none, `vms` (all but capabilities) or all. (default: none)", func(text string) (err error) {
		options.Silence, err = vmprovider.ParseSilence(text)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return "", options, err
	}
	if flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintf(stderr, "vmprovider: %v\n", err)
	}
	return listen, options, err
}

// serve tells its URL once it listens, and returns when ctx ends.
func serve(ctx context.Context, listen string, options vmprovider.Options, stdout io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: vmprovider.New(options).Handler(), ReadHeaderTimeout: headerTimeout}
	// At once: calls may be hanging that it is never going to answer.
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // the process ends
	fmt.Fprintf(stdout, "http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
