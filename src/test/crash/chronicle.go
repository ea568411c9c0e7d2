package crash

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
)

// Gone is a Deployment that is not there any more, in a Chronicle.
const Gone = "gone"

// Chronicle is all that a Deployment has been, one after the other: "5 shop:1" is
// five replicas of that image, "5 shop:1+proxy:1" the same with another container.
// The zero value is a Deployment that never was.
type Chronicle struct {
	mu     sync.Mutex
	stands []stand
	births int
}

type stand struct {
	gone     bool
	replicas int32
	images   []string
}

func (s stand) String() string {
	if s.gone {
		return Gone
	}
	return fmt.Sprintf("%d %s", s.replicas, strings.Join(s.images, "+"))
}

func standOf(deployment *appsv1.Deployment) stand {
	var images []string
	for i := range deployment.Spec.Template.Spec.Containers {
		container := &deployment.Spec.Template.Spec.Containers[i]
		if container.Name == deployment.Name {
			images = slices.Insert(images, 0, container.Image)
			continue
		}
		images = append(images, container.Image)
	}
	return stand{replicas: *deployment.Spec.Replicas, images: images}
}

// See adds what the Deployment is now, if that is news.
func (c *Chronicle) See(deployment *appsv1.Deployment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.present() {
		for _, entry := range deployment.ManagedFields {
			if entry.Manager == exampleappsv1.FieldOwner {
				c.births++
				break
			}
		}
	}
	c.add(standOf(deployment))
}

// SeeGone adds that the Deployment is gone.
func (c *Chronicle) SeeGone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(stand{gone: true})
}

func (c *Chronicle) present() bool { return len(c.stands) > 0 && !c.stands[len(c.stands)-1].gone }

func (c *Chronicle) add(s stand) {
	if len(c.stands) == 0 || c.stands[len(c.stands)-1].String() != s.String() {
		c.stands = append(c.stands, s)
	}
}

// Lines are what the Deployment has been.
func (c *Chronicle) Lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := make([]string, 0, len(c.stands))
	for _, s := range c.stands {
		lines = append(lines, s.String())
	}
	return lines
}

// Births is how often the operator has created the Deployment.
func (c *Chronicle) Births() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.births
}

// Leads reports whether what the Deployment has been so far can be the beginning of
// what it should become.
func (c *Chronicle) Leads(to []string) bool {
	lines := c.Lines()
	return len(lines) <= len(to) && slices.Equal(lines, to[:len(lines)])
}

// changes are what events tell of: "replicas 2 -> 5, set by kubectl via scale".
var changes = regexp.MustCompile(`\b(replicas|image) ([^ ]+) -> ([^ ,]+)`)

// Untrue returns a change that a note tells of and that never was; empty if there
// is none.
func (c *Chronicle) Untrue(note string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, change := range changes.FindAllStringSubmatch(note, -1) {
		if !c.was(change[1], change[2], change[3]) {
			return change[0]
		}
	}
	return ""
}

// was reports whether a field went from one value to another.
func (c *Chronicle) was(field, from, to string) bool {
	value := func(s stand) string {
		switch {
		case s.gone:
			return Gone
		case field == "image":
			return s.images[0]
		default:
			return strconv.Itoa(int(s.replicas))
		}
	}
	for i := 1; i < len(c.stands); i++ {
		if value(c.stands[i-1]) == from && value(c.stands[i]) == to {
			return true
		}
	}
	return false
}
