package labeller

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// The label, unless the manager's flags say otherwise.
const (
	DefaultKey   = "managed-by"
	DefaultValue = "my-operator"
)

// Rule says which label is kept, and on which Deployments.
type Rule struct {
	// Key and Value are the label.
	Key, Value string
	// Selector picks Deployments by their labels; an empty one picks all.
	Selector labels.Selector
}

// ParseRule returns an error that says of each of the three texts what is wrong
// with it.
func ParseRule(key, value, selector string) (Rule, error) {
	var problems []error
	if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
		problems = append(problems, fmt.Errorf("%q cannot be the key of a label: %s", key, wrong[0]))
	} else if prefix, _, prefixed := strings.Cut(key, "/"); prefixed && ours(prefix) {
		problems = append(problems, fmt.Errorf("%q is a label that the operator tells its own objects by", key))
	}
	if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
		problems = append(problems, fmt.Errorf("%q cannot be the value of a label: %s", value, wrong[0]))
	}
	picks, err := labels.Parse(selector)
	if err != nil {
		problems = append(problems, fmt.Errorf("%q is not a label selector: %w", selector, err))
	}
	return Rule{Key: key, Value: value, Selector: picks}, joined(problems)
}

func ours(prefix string) bool {
	return prefix == computev1.GroupVersion.Group || prefix == exampleappsv1.GroupVersion.Group
}

// joined puts errors into one line, as a message on a command line should be.
func joined(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, 0, len(problems))
	for _, problem := range problems {
		texts = append(texts, problem.Error())
	}
	return errors.New(strings.Join(texts, "; "))
}
