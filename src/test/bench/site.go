package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"time"
)

// providerBinary is src/test/bench/vmprovider, which is so fast that it is not what
// is measured.
const providerBinary = "bin/vmprovider"

// site is a provider at work, a process of its own.
type site struct {
	*process

	url string
}

// siteOptions are how a provider behaves.
type siteOptions struct {
	// provision is how long a VM takes to be Running; 0 is at once.
	provision time.Duration
	// hangs: no call that is about VMs is ever answered.
	hangs bool
}

// startSite starts a provider without VMs. Its log gets the given name.
func (w *world) startSite(ctx context.Context, logName string, options siteOptions) (*site, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	silence := "none"
	if options.hangs {
		silence = "vms"
	}
	//nolint:noctx // It is stopped with patience, also when ctx has ended.
	started, err := w.start("the provider", logName, exec.Command(providerBinary,
		"-listen="+address, "-provision="+options.provision.String(), "-silence="+silence))
	if err != nil {
		return nil, err
	}
	s := &site{process: started, url: "http://" + address}
	if err := s.await(ctx, func(ctx context.Context) (bool, error) { return answers(ctx, s.url+"/stats"), nil }); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// calls are those that the provider got, by operation.
func (s *site) calls(ctx context.Context) (counts, error) {
	response, err := get(ctx, s.url+"/stats")
	if err != nil {
		return nil, fmt.Errorf("asking the provider for its counts: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking the provider for its counts: %s", response.Status)
	}
	var stats struct {
		Calls counts `json:"calls"`
	}
	if err := json.NewDecoder(response.Body).Decode(&stats); err != nil {
		return nil, fmt.Errorf("asking the provider for its counts: %w", err)
	}
	return stats.Calls, nil
}
