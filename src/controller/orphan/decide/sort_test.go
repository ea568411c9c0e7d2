package decide

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func TestSort(t *testing.T) {
	t.Parallel()
	object := func(id string, uids ...types.UID) Object { return Object{UIDs: uids, ID: id} }
	for name, test := range map[string]struct {
		vms      []VM
		objects  []Object
		retained []types.UID
		want     []Kind
	}{
		"The VM of an object":                                   {[]VM{{"1", "a"}}, []Object{object("1", "a")}, nil, []Kind{Owned}},
		"A VM whose object has not stored its id yet":           {[]VM{{"1", "a"}}, []Object{object("", "a")}, nil, []Kind{Owned}},
		"A VM without an object":                                {[]VM{{"1", "a"}}, []Object{object("2", "b")}, nil, []Kind{Orphan}},
		"A VM without an object, in an empty namespace":         {[]VM{{"1", "a"}}, nil, nil, []Kind{Orphan}},
		"A VM that was left on purpose":                         {[]VM{{"1", "a"}}, nil, []types.UID{"a"}, []Kind{Retained}},
		"All VMs of an object that left one on purpose":         {[]VM{{"1", "a"}, {"2", "a"}}, nil, []types.UID{"a"}, []Kind{Retained, Retained}},
		"A VM of an object that was made anew under its name":   {[]VM{{"1", "a"}}, []Object{object("2", "b")}, nil, []Kind{Orphan}},
		"A VM that a restored object carries the key of":        {[]VM{{"1", "a"}}, []Object{object("", "b", "a")}, nil, []Kind{Owned}},
		"A VM that an object of another UID has taken over":     {[]VM{{"1", "a"}}, []Object{object("1", "b")}, nil, []Kind{Owned}},
		"A second VM of an object":                              {[]VM{{"1", "a"}, {"2", "a"}}, []Object{object("2", "a")}, nil, []Kind{Duplicate, Owned}},
		"A second VM of an object whose VM's id is not known":   {[]VM{{"1", "a"}, {"2", "a"}}, []Object{object("", "a")}, nil, []Kind{Owned, Duplicate}},
		"A second VM, retained once and taken back by a person": {[]VM{{"1", "a"}}, []Object{object("2", "a")}, []types.UID{"a"}, []Kind{Duplicate}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Sort(test.vms, test.objects, test.retained)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever exists, a VM that any object claims is never an orphan, and one that
// none claims is never anything else, unless it was left on purpose.
func TestAnOrphanIsWhatNoObjectClaims(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		uid := rapid.Custom(func(t *rapid.T) types.UID { return types.UID(fmt.Sprint("uid-", rapid.IntRange(0, 5).Draw(t, "uid"))) })
		ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 8), 0, 8, rapid.ID[int]).Draw(t, "ids")
		var vms []VM
		for _, id := range ids {
			vms = append(vms, VM{ID: fmt.Sprint("vm-", id), UID: uid.Draw(t, "label")})
		}
		objects := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Object {
			object := Object{UIDs: rapid.SliceOfN(uid, 1, 2).Draw(t, "uids")}
			if rapid.Bool().Draw(t, "has a VM") {
				object.ID = fmt.Sprint("vm-", rapid.IntRange(0, 8).Draw(t, "id"))
			}
			return object
		}), 0, 5).Draw(t, "objects")
		retained := rapid.SliceOfN(uid, 0, 2).Draw(t, "retained")
		for i, kind := range Sort(vms, objects, retained) {
			claimed := false
			for _, object := range objects {
				claimed = claimed || object.Claims(vms[i])
			}
			if claimed == (kind == Orphan || kind == Retained) {
				t.Fatalf("%v of %v is %d, claimed: %t", vms[i], objects, kind, claimed)
			}
		}
	})
}
