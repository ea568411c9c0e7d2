package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example/vmoperator/src/provider"
)

// Bounds of what is taken from an answer, in characters unless said otherwise.
const (
	maxName       = 512
	maxImage      = 256
	maxPhase      = 64
	maxMemory     = 64
	maxCPU        = 1 << 20 // virtual CPUs
	maxAddresses  = 64      // addresses of a VM
	maxLabels     = 64      // labels of a VM
	maxLabelName  = 320
	maxLabelValue = 1024
	maxCursor     = 1024
)

// safeID is an id that stands in a URL's path as it is.
var safeID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~-]{0,255}$`)

var errNotJSON = errors.New("it is not JSON")

// wireMachine is a VM in an answer.
type wireMachine struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Image     string            `json:"image"`
	Phase     string            `json:"phase"`
	CPU       float64           `json:"cpu"`
	Memory    string            `json:"memory"`
	Addresses []string          `json:"addresses"`
	Labels    map[string]string `json:"labels"`
	Key       string            `json:"key"`
}

// wirePage is a page in an answer. Both fields are required: an answer without
// them must not look like the end of a list.
type wirePage struct {
	Items *[]wireMachine `json:"items"`
	Next  *string        `json:"next"`
}

// decode reads a whole body as one JSON value.
func decode[T any](body []byte) (T, error) {
	var value T
	if err := json.Unmarshal(body, &value); err != nil {
		// The error of encoding/json quotes the answer.
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return value, errors.New("a field has another type than the contract says")
		}
		return value, errNotJSON
	}
	return value, nil
}

// machine is strict with the id, on which everything hangs. What a VM tells
// beyond that is kept if it is within bounds; otherwise it counts as not told.
func (w *wireMachine) machine() (provider.Machine, error) {
	if !safeID.MatchString(w.ID) {
		return provider.Machine{}, errors.New("the answer has a VM without an id that is safe in a URL")
	}
	return provider.Machine{
		ID:        w.ID,
		Name:      told(w.Name, maxName),
		Image:     told(w.Image, maxImage),
		Phase:     provider.Phase(told(w.Phase, maxPhase)),
		CPU:       toldCPU(w.CPU),
		Memory:    toldMemory(w.Memory),
		Addresses: toldAddresses(w.Addresses),
		Labels:    toldLabels(w.Labels),
	}, nil
}

func decodePage(body []byte) (wirePage, error) {
	page, err := decode[wirePage](body)
	switch {
	case err != nil:
		return wirePage{}, fmt.Errorf("the answer is no page of VMs: %w", err)
	case page.Items == nil || page.Next == nil:
		return wirePage{}, errors.New("the answer is no page of VMs: items or next is missing")
	case len(*page.Items) > pageSize:
		return wirePage{}, errors.New("the page has more VMs than were asked for")
	case len(*page.Next) > maxCursor:
		return wirePage{}, errors.New("the page's cursor is too long")
	}
	return page, nil
}

// page fails if one VM is not usable: a page that leaves a VM out would say that
// it is gone.
func (w *wirePage) page() (provider.Page, error) {
	page := provider.Page{Items: make([]provider.Machine, 0, len(*w.Items)), Next: *w.Next}
	for i := range *w.Items {
		machine, err := (*w.Items)[i].machine()
		if err != nil {
			return provider.Page{}, err
		}
		page.Items = append(page.Items, machine)
	}
	return page, nil
}

func told(text string, longest int) string {
	if utf8.RuneCountInString(text) > longest || strings.ContainsFunc(text, unprintable) {
		return ""
	}
	return text
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

func toldCPU(cpu float64) int32 {
	if cpu < 1 || cpu > maxCPU || cpu != math.Trunc(cpu) {
		return 0
	}
	return int32(cpu)
}

func toldMemory(memory string) string {
	// A quantity with an exponent can take minutes to parse.
	if len(memory) > maxMemory || strings.ContainsAny(memory, "eE") && !strings.HasSuffix(memory, "E") && !strings.HasSuffix(memory, "Ei") {
		return ""
	}
	if quantity, err := resource.ParseQuantity(memory); err != nil || quantity.Sign() <= 0 {
		return ""
	}
	return memory
}

func toldAddresses(texts []string) []string {
	var addresses []string
	for _, text := range texts {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" {
			continue
		}
		if addresses = append(addresses, address.String()); len(addresses) == maxAddresses {
			break
		}
	}
	return addresses
}

// toldLabels keeps all labels or none: some of them could name another owner.
func toldLabels(labels map[string]string) map[string]string {
	if len(labels) > maxLabels {
		return nil
	}
	for name, value := range labels {
		if told(name, maxLabelName) == "" || told(value, maxLabelValue) != value {
			return nil
		}
	}
	return labels
}
