package snapshot

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/registry"
)

// errOver is what a Reader gets of a list that was begun and is not gone on with.
var errOver = errors.New("the provider is not listed any more, or another way")

// Reader takes in the VMs of one list, with all that the provider tells of them, as
// the pages come: a Snapshot keeps less.
type Reader interface {
	// Page is given the VMs of each page, in order. It must not keep the slice.
	Page(items []provider.Machine)
	// Done is called once: without an error the list is complete, with one it proves
	// nothing.
	Done(err error)
}

// Read lets a reader take in the next list of a ProviderConfig's VMs that is begun.
// It costs no call, where the VMs are listed anyway, and is worth a list where no VM
// asks for one. A reader that waits is replaced.
func (o *Observer) Read(key types.NamespacedName, reader Reader) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.readers[key] = reader
	o.wake(key)
}

// takeReader returns the reader that waits; nil if there is none.
func (o *Observer) takeReader(key types.NamespacedName) Reader {
	o.mu.Lock()
	defer o.mu.Unlock()
	reader := o.readers[key]
	delete(o.readers, key)
	return reader
}

// lists reports whether a provider is to be listed: for its VMs, or for a reader.
func (o *Observer) lists(key types.NamespacedName, entry registry.Entry) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	reading := o.readers[key] != nil
	if w := o.watched[key]; w != nil && w.walk != nil && w.walk.reader != nil {
		reading = true
	}
	return Lists(entry) || reading && entry.Open() && entry.Capabilities.Has(provider.CapabilityList)
}
