package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example/vmoperator/src/provider"
)

const (
	maxImage  = 256
	maxMemory = 64
	maxCPU    = 1024
)

// refusal is why a request is not served.
type refusal struct {
	status int
	detail string
}

// size is what a client says of a VM's size; nil is not said.
type size struct {
	CPU    *float64 `json:"cpu"`
	Memory *string  `json:"memory"`
}

type order struct {
	size

	Image  *string           `json:"image"`
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

// readOrder reads the body of POST /vms, with the contract's defaults.
func readOrder(w http.ResponseWriter, r *http.Request) (provider.CreateRequest, *refusal) {
	var body order
	if refused := readBody(w, r, &body); refused != nil {
		return provider.CreateRequest{}, refused
	}
	if body.Image == nil || *body.Image == "" || utf8.RuneCountInString(*body.Image) > maxImage {
		return provider.CreateRequest{}, refuse("image is not a string of 1 to 256 characters")
	}
	wanted, refused := body.fill(provider.Size{CPU: 1, Memory: "1Gi"})
	return provider.CreateRequest{
		Name: body.Name, Image: *body.Image, CPU: wanted.CPU, Memory: wanted.Memory, Labels: body.Labels,
	}, refused
}

// readSize reads the body of PATCH /vms/{id}: what it does not say stays as it is.
func (f *face) readSize(w http.ResponseWriter, r *http.Request) (provider.Size, *refusal) {
	var body size
	if refused := readBody(w, r, &body); refused != nil {
		return provider.Size{}, refused
	}
	present, _ := f.provider.Find(r.PathValue("id"))
	return body.fill(provider.Size{CPU: present.CPU, Memory: present.Memory})
}

// fill returns the size with others' values for what is not said.
func (s size) fill(others provider.Size) (provider.Size, *refusal) {
	if s.CPU != nil {
		cpu := int32(min(max(*s.CPU, 0), maxCPU+1))
		if cpu < 1 || cpu > maxCPU || float64(cpu) != *s.CPU {
			return provider.Size{}, refuse("cpu is not an integer from 1 to 1024")
		}
		others.CPU = cpu
	}
	if s.Memory != nil {
		if !isQuantity(*s.Memory) {
			return provider.Size{}, refuse("memory is not a positive quantity such as 4Gi")
		}
		others.Memory = *s.Memory
	}
	return others, nil
}

func isQuantity(text string) bool {
	if len(text) > maxMemory {
		return false
	}
	quantity, err := resource.ParseQuantity(text)
	return err == nil && quantity.Sign() > 0
}

// readBody reads a JSON object: 413 if it is too large, 400 if it is no JSON, 422
// if it is JSON of another kind. Fields that nobody here knows are ignored.
func readBody(w http.ResponseWriter, r *http.Request, into any) *refusal {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return &refusal{http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB"}
	}
	if err != nil {
		return &refusal{http.StatusBadRequest, "the body broke off"}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
			return refuse("the body is not a JSON object")
		}
		return &refusal{http.StatusBadRequest, "the body is not JSON"}
	}
	if object == nil {
		return refuse("the body is not a JSON object")
	}
	if err := json.Unmarshal(text, into); err != nil {
		mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err)
		if !ok {
			return &refusal{http.StatusBadRequest, "the body is not JSON"}
		}
		return refuse(fmt.Sprintf("%s has another type than the contract says", mistyped.Field))
	}
	return nil
}

func refuse(detail string) *refusal { return &refusal{http.StatusUnprocessableEntity, detail} }

// validKey reports whether a key is 1 to 255 printable ASCII characters.
func validKey(key string) bool {
	for _, octet := range []byte(key) {
		if octet < '!' || octet > '~' {
			return false
		}
	}
	return key != "" && len(key) <= maxKey
}
