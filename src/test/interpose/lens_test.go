package interpose

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// cluster has one resource: a list of its state, and a watch that tells what it is
// told to.
type cluster struct {
	state  string
	events chan string
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		_, _ = io.WriteString(w, c.state) //nolint:gosec // a test server: nobody renders its answer
		return
	}
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for {
		select {
		case event := <-c.events:
			fmt.Fprintln(w, event)
			if flush.Flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

var secrets = View{Namespace: "a", Resource: "secrets"}

// caller lists and watches through a lens.
type caller struct {
	t       *testing.T
	proxy   *Proxy
	lens    *Lens
	cluster *cluster
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	c := &cluster{state: "before", events: make(chan string)}
	lens := NewLens(c)
	p, err := Start(t.Context(), Options{Who: "test", Next: lens, Classify: Kubernetes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return &caller{t: t, proxy: p, lens: lens, cluster: c}
}

// get sends a request whose body is closed with the test.
func (c *caller) get(query string) (status int, body io.Reader) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.proxy.URL()+"/api/v1/namespaces/a/secrets"+query, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { response.Body.Close() })
	return response.StatusCode, response.Body
}

func (c *caller) wantList(want string) {
	c.t.Helper()
	_, list := c.get("")
	body, err := io.ReadAll(list)
	if err != nil || string(body) != want {
		c.t.Errorf("the list is %q, %v, want %q", body, err, want)
	}
}

func TestAFrozenWatchTellsItsEventsLater(t *testing.T) {
	c := newCaller(t)
	_, watch := c.get("?watch=true")
	lines := bufio.NewScanner(watch)
	c.cluster.events <- "one"
	if !lines.Scan() || lines.Text() != "one" {
		t.Fatalf("got %q", lines.Text())
	}
	c.lens.Freeze(secrets)
	c.cluster.events <- "two"
	told := make(chan string, 1)
	go func() {
		lines.Scan()
		told <- lines.Text()
	}()
	select {
	case event := <-told:
		t.Fatalf("%q was told through a frozen view", event)
	default:
	}
	c.lens.Thaw(secrets)
	if event := <-told; event != "two" {
		t.Errorf("got %q", event)
	}
}

func TestALostEventIsNeverToldAndItsCallerMustListAgain(t *testing.T) {
	c := newCaller(t)
	_, watch := c.get("?watch=true")
	lines := bufio.NewScanner(watch)
	c.lens.Freeze(secrets)
	c.cluster.events <- "lost"
	c.lens.Lose(secrets)
	if lines.Scan() {
		t.Errorf("got %q", lines.Text())
	}
	if got, _ := c.get("?watch=true"); got != http.StatusGone {
		t.Errorf("a watch without a list gets status %d", got)
	}
	c.wantList("before")
	if got, _ := c.get("?watch=true"); got != http.StatusOK {
		t.Errorf("a watch after a list gets status %d", got)
	}
}

func TestAKeptListIsOldUntilItIsThawed(t *testing.T) {
	c := newCaller(t)
	c.wantList("before")
	c.lens.Keep(t.Context(), secrets)
	c.cluster.state = "after"
	c.wantList("after")
	c.lens.Recall(secrets)
	c.wantList("before")
	c.lens.Thaw(secrets)
	c.wantList("after")
}

func TestWhatIsNotOfTheViewIsShownAsItIs(t *testing.T) {
	c := newCaller(t)
	c.wantList("before")
	other := View{Namespace: "a", Resource: "services"}
	c.lens.Keep(t.Context(), other)
	c.lens.Recall(other)
	c.cluster.state = "after"
	c.wantList("after")
}
