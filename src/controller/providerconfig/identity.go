package providerconfig

import (
	"slices"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
)

// maxFormerIdentities is the bound of status.formerIdentities.
const maxFormerIdentities = 8

// formerIdentities are those once found is the present one: the newest are kept,
// in the order in which they were superseded.
func formerIdentities(status computev1.ProviderConfigStatus, found string, inherit bool) []string {
	if !inherit {
		return nil
	}
	former := slices.DeleteFunc(slices.Clone(status.FormerIdentities), func(identity string) bool {
		return identity == found || identity == status.Identity
	})
	former = append(former, status.Identity)
	return former[max(0, len(former)-maxFormerIdentities):]
}

// identities are those that a VM of the provider may have been made under.
func identities(status computev1.ProviderConfigStatus) []string {
	return append([]string{status.Identity}, status.FormerIdentities...)
}
