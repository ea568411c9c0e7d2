// Command assets prints a folder with the executables of a Kubernetes control plane, as KUBEBUILDER_ASSETS names one, and
// builds them where it finds none:
//
//	KUBEBUILDER_ASSETS=$(go run ./src/test/controlplane/cmd/assets) go test ./...
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/example/vmoperator/src/test/controlplane"
)

func main() {
	complete := flag.Bool("complete", false, "insist on kube-controller-manager, which no download has")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	find := controlplane.Assets
	if *complete {
		find = controlplane.CompleteAssets
	}
	dir, err := find(ctx, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}
