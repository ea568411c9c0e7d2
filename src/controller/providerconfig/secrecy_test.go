package providerconfig_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/client"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/metrics"
)

// checkMarker fails if the API key shows anywhere but in a Secret.
func (r *rig) checkMarker() {
	r.t.Helper()
	ctx := context.Background()
	shown := map[string]any{}
	for _, list := range []client.ObjectList{
		&computev1.ProviderConfigList{}, &computev1.VirtualMachineList{}, eventList(),
	} {
		must(r.t, kube.List(ctx, list, client.InNamespace(r.namespace)))
		shown[fmt.Sprintf("%T", list)] = list
	}
	families, err := gather.Gather()
	must(r.t, err)
	shown["metrics"] = fmt.Sprint(families)
	shown["logs"] = r.logs.String() + commonLogs.String()
	for place, content := range shown {
		text, err := json.Marshal(content)
		must(r.t, err)
		if strings.Contains(string(text), marker) {
			r.t.Errorf("the API key appears in %s", place)
		}
	}
}

var gather = func() *prometheus.Registry {
	all := prometheus.NewPedanticRegistry()
	if err := metrics.Register(all); err != nil {
		panic(err)
	}
	return all
}()

// zapAll is the level of the most talkative log.
const zapAll = zapcore.Level(-10)

type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// clock stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) step(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}
