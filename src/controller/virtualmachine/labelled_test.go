package virtualmachine_test

import (
	"k8s.io/apimachinery/pkg/labels"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// labelled selects what the manager's cache holds of Secrets and Services.
func labelled() labels.Selector {
	return labels.SelectorFromSet(labels.Set{computev1.WatchedLabel: computev1.WatchedLabelValue})
}
