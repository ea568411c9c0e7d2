package intent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
)

// Whatever stands in the annotation, a record that is read must be one that the
// next process reads the same.
func FuzzRecord(f *testing.F) {
	vm := &computev1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "5f0c"}}
	request := provider.CreateRequest{Name: "web", Image: "ubuntu\u2028", CPU: 2, Memory: "4Gi", Labels: map[string]string{"a": "b"}}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	f.Add(New(vm, 1, "acme", request).Attempted(now, 10*time.Second).String())
	f.Add(New(vm, 7, "", request).String())
	for _, seed := range []string{
		``, `null`, `{}`, `[]`, `{"object":"team/web"}`, `{"object":"team/web","key":"/"}`,
		`{"object":"team/web","key":"x/9223372036854775807"}`, `{"object":"team/web","key":"x/-1"}`,
		`{"object":"team/web","key":"x/99999999999999999999"}`, `{"object":"other/web","key":"x/1"}`,
		`{"object":"team/web","key":"x/1","attemptedAt":"9999-12-31T23:59:59.999999-23:59"}`,
		`{"object":"team/web","key":"x/1","attemptedAt":"0000-01-01T00:00:00.000000+23:59"}`,
		`{"object":"team/web","key":"x/1","attemptedAt":"0001-01-01T00:00:00.000000Z"}`,
		`{"object":"team/web","key":"x/1","attemptedAt":"2026-01-31T12:00:00.000000Z","timeout":"2562047h47m16s"}`,
		`{"object":"team/web","key":"\ud800/1","request":{"labels":{"\u0000":"\ufffd"}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, annotation string) {
		vm := vm.DeepCopy()
		vm.Annotations = map[string]string{computev1.CreateIntentAnnotation: annotation}
		record := Of(vm)
		if record == nil {
			return
		}
		if record.Ordinal() < 1 {
			t.Errorf("the ordinal of %q is %d", record.Key, record.Ordinal())
		}
		if at := record.AttemptedAt; at != nil && record.SettledAt(15*time.Second, 10*time.Second, 0).Before(at.Add(25*time.Second)) {
			t.Errorf("an attempt at %v is settled at %v", at, record.SettledAt(15*time.Second, 10*time.Second, 0))
		}
		for name, each := range map[string]*Record{
			"as read":                 record,
			"with an attempt":         record.Attempted(now, 10*time.Second),
			"withdrawn":               record.Withdrawn(),
			"of the object's next VM": New(vm, record.Ordinal()+1, record.Identity, record.Request),
		} {
			vm.Annotations[computev1.CreateIntentAnnotation] = each.String()
			if diff := cmp.Diff(each, Of(vm), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, it is read another way when it is stored:\n%s", name, diff)
			}
		}
		if next := New(vm, record.Ordinal()+1, "", record.Request); next.Ordinal() != record.Ordinal()+1 {
			t.Errorf("the VM after %q has the key %q", record.Key, next.Key)
		}
	})
}
