package leaders

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
	"github.com/example/vmoperator/src/test/scene"
)

const (
	// held is a timeout for calls that are held: longer than any test.
	held = 5 * time.Minute
	// brief is a timeout for tests that wait until a POST cannot arrive any more.
	brief = 5 * time.Second
)

// play is a story in its scene: the first leader is stopped in the middle of it.
type play struct {
	*scene.Scene

	name  string
	story story
	pair  *pair
	// gate is what the first leader waits at.
	gate *interpose.Gate
}

func newPlay(t *testing.T, name string, told story, p *mockprovider.Provider, asks bool) *play {
	t.Helper()
	return &play{name: name, story: told, Scene: scene.New(t, scene.Options{
		Kube: kube, Provider: p, Asks: asks,
		Config: func(config *computev1.ProviderConfig) {
			config.Spec.Timeout = &metav1.Duration{Duration: told.timeout}
		},
	})}
}

// under gives a play its operators.
func (s *play) under(p *pair) {
	s.pair, s.Fronts = p, []*interpose.Proxy{p.front, p.back}
}

func (s *play) showLogs() {
	s.ShowLogs(map[string]*operator.Operator{"first": s.pair.first, "second": s.pair.second})
}

// holdCall makes the first call of an operation wait on its way to the provider.
func (s *play) holdCall(operation provider.Operation) {
	s.gate = s.Calls.Hold(func(call interpose.Call) bool { return call.Is(operation) })
}

// open lets the held call, or answer, go on.
func (s *play) open() { s.gate.Open(interpose.Pass()) }
