package childcache

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rig is a shelf, and whom it has told.
type rig struct {
	*shelf

	t    *testing.T
	told []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t}
	content := func(object client.Object) Digest {
		secret, ok := object.(*corev1.Secret)
		if !ok {
			return Digest{}
		}
		return DigestOf(secret.Data["id"])
	}
	r.shelf = newShelf(content, func(namespace, owner string) { r.told = append(r.told, namespace+"/"+owner) })
	return r
}

func secret(name, owner, id string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name,
			OwnerReferences: []metav1.OwnerReference{{Name: owner, UID: types.UID("uid of " + owner), Controller: new(true)}},
		},
		Data: map[string][]byte{"id": []byte(id)},
	}
}

func (r *rig) do(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// want compares whom the shelf has told since it was last asked.
func (r *rig) want(owners ...string) {
	r.t.Helper()
	slices.Sort(r.told)
	if diff := cmp.Diff(owners, r.told); diff != "" {
		r.t.Errorf("told (-want +got):\n%s", diff)
	}
	r.told = nil
}

func TestWhatIsNeededOfAChildIsKept(t *testing.T) {
	r := newRig(t)
	r.do(r.Add(secret("web-connection", "web", "1")))
	leaving := secret("other", "db", "1")
	leaving.DeletionTimestamp = new(metav1.Now())
	r.do(r.Add(leaving))
	r.do(r.Add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nobodys"}}))

	web, found := r.get(types.NamespacedName{Namespace: "default", Name: "web-connection"})
	if !found || web.Owner != "web" || !web.IsOf("uid of web") || web.IsOf("uid of db") || web.Terminating || web.Content != DigestOf([]byte("1")) {
		t.Errorf("kept %+v, %v", web, found)
	}
	if db, found := r.get(types.NamespacedName{Namespace: "default", Name: "other"}); !found || db.Owner != "db" || !db.Terminating {
		t.Errorf("kept %+v, %v", db, found)
	}
	if none, found := r.get(types.NamespacedName{Namespace: "default", Name: "nobodys"}); !found || none.Owner != "" || none.IsOf("") {
		t.Errorf("kept %+v, %v", none, found)
	}
	if _, found := r.get(types.NamespacedName{Namespace: "elsewhere", Name: "other"}); found {
		t.Error("a child of another namespace is found")
	}
	r.want()
}

func TestOwnersAreToldOfChangesAlone(t *testing.T) {
	r := newRig(t)
	r.do(r.Add(secret("a", "web", "1")))
	same := secret("a", "web", "1")
	same.Annotations = map[string]string{"note": "another's"}
	r.do(r.Update(same))
	r.want()
	r.do(r.Update(secret("a", "web", "2")))
	r.want("default/web")
	r.do(r.Update(secret("a", "db", "2")))
	r.want("default/db", "default/web")
	r.do(r.Delete(secret("a", "db", "2")))
	r.want("default/db")
	if _, found := r.get(types.NamespacedName{Namespace: "default", Name: "a"}); found {
		t.Error("a child that is gone is kept")
	}
}

func TestWhatAnInterruptedWatchMissedIsTold(t *testing.T) {
	r := newRig(t)
	select {
	case <-r.synced:
		t.Error("synced before anything was read")
	default:
	}
	r.do(r.Replace([]any{secret("same", "a", "1"), secret("changed", "b", "1"), secret("gone", "c", "1")}, "1"))
	select {
	case <-r.synced:
	default:
		t.Error("not synced though all was read")
	}
	r.want()
	r.do(r.Replace([]any{secret("same", "a", "1"), secret("changed", "b", "2"), secret("new", "d", "1")}, "2"))
	r.want("default/b", "default/c")
}

// A reflector gathers what the transformer makes of objects by its name, and hands
// it over as a whole.
func TestAReflectorCanGatherItems(t *testing.T) {
	r := newRig(t)
	gathered := toolscache.NewStore(toolscache.DeletionHandlingMetaNamespaceKeyFunc, toolscache.WithTransformer(r.Transformer()))
	r.do(gathered.Add(secret("a", "web", "1")))
	r.do(gathered.Add(secret("a", "web", "2")))
	r.do(gathered.Add(secret("b", "web", "1")))
	r.do(gathered.Delete(secret("b", "web", "1")))
	r.do(r.Replace(gathered.List(), "1"))
	if a, found := r.get(types.NamespacedName{Namespace: "default", Name: "a"}); !found || a.Content != DigestOf([]byte("2")) || len(r.children) != 1 {
		t.Errorf("kept %+v, %v of %d", a, found, len(r.children))
	}
	if r.Add("no object") == nil {
		t.Error("whatever is no object is taken")
	}
}
