package labeller

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

func TestWhatIsWrongWithARuleIsSaidInOneLine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key, value, selector string
		want                 []string
	}{
		"a key that is none":          {"a b", "v", "", []string{`"a b" cannot be the key of a label`}},
		"a key of the operator's own": {"compute.example.com/watched", "v", "", []string{"the operator tells its own objects by"}},
		"a key of its other group":    {"apps.example.io/x", "v", "", []string{"the operator tells its own objects by"}},
		"a value that is none":        {"k", "a b", "", []string{`"a b" cannot be the value of a label`}},
		"a value that is too long":    {"k", strings.Repeat("a", 64), "", []string{"cannot be the value of a label: must be no more than 63"}},
		"a selector that is none":     {"k", "v", "a=b=c", []string{`"a=b=c" is not a label selector`}},
		"all three":                   {"", "/", "!", []string{"the key of a label", "; ", "the value of a label", "; ", "not a label selector"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseRule(test.key, test.value, test.selector)
			if err == nil {
				t.Fatal("it is taken")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it says %q, want %q in it", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("it says more than one line: %q", err)
			}
		})
	}
}

func TestNoSelectorPicksAll(t *testing.T) {
	t.Parallel()
	rule, err := ParseRule("example.com/managed-by", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if !rule.Selector.Matches(labels.Set{}) || !rule.Selector.Matches(labels.Set{"tier": "web"}) {
		t.Error("a Deployment is left out")
	}
}
