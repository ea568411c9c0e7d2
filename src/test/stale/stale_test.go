package stale

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/test/interpose"
	"github.com/example/vmoperator/src/test/mockprovider"
	"github.com/example/vmoperator/src/test/operator"
	"github.com/example/vmoperator/src/test/scene"
)

const (
	credentials = "credentials"
	rightKey    = "right"
	otherKey    = "other"
)

// stories leave a running VM behind, and an operator that sees clearly again.
var stories = map[string]func(*play){
	"the cache stops before the finalizer":                            frozenBeforeTheFinalizer,
	"the cache stops before the POST's effect":                        frozenBeforeThePOST,
	"the cache stops before the VM is deleted, and shows it later":    func(s *play) { frozenBeforeTheDELETE(s, s.eyes.lens.Thaw) },
	"the cache stops before the VM is deleted, and never hears of it": func(s *play) { frozenBeforeTheDELETE(s, s.eyes.lens.Lose) },
	"the spec is changed and changed back unseen":                     specThereAndBack,
	"the Secret is changed and changed back unseen":                   secretThereAndBack,
	"the ProviderConfig is changed and changed back unseen":           providerThereAndBack,
}

func TestAnOperatorThatSeesThePastMakesOneVM(t *testing.T) {
	t.Parallel()
	e := newEyes(t)
	home := scene.Namespace(t, kube)
	namespaces := []string{home}
	providers := map[string]*mockprovider.Provider{"full": scene.Provider(t), "minimal": scene.Provider(t, "--minimal")}
	plays, undisturbed := map[string][]*play{}, map[string]*play{}
	for kind, p := range providers {
		options := scene.Options{Provider: p, Asks: kind == "minimal", Config: withSecret}
		undisturbed[kind] = newPlay(t, e, options, "undisturbed")
		plays[kind] = append(plays[kind], undisturbed[kind])
		for name := range stories {
			plays[kind] = append(plays[kind], newPlay(t, e, options, name))
		}
		for _, s := range plays[kind] {
			s.secret(rightKey)
			namespaces = append(namespaces, s.Namespace)
		}
	}
	o := e.start(t, namespaces)
	for kind, all := range plays {
		u := undisturbed[kind]
		u.Ready()
		u.Make()
		u.current()
		u.AwaitLooks(1)
		want := u.face(t.Context())
		for _, s := range all {
			t.Run(s.name+", "+kind, func(t *testing.T) {
				t.Parallel()
				s.T = t
				s.ShowLogs(map[string]*operator.Operator{"only": o})
				s.Ready()
				if tell := stories[s.name]; tell != nil {
					tell(s)
				}
				s.end(want)
			})
		}
	}
}

func withSecret(config *computev1.ProviderConfig) {
	config.Spec.SecretRef = &computev1.SecretReference{Name: credentials}
}

// secret makes the ProviderConfig's Secret.
func (s *play) secret(key string) {
	s.T.Helper()
	secret := &corev1.Secret{ObjectMeta: s.meta(credentials), Data: map[string][]byte{computev1.APIKeyKey: []byte(key)}}
	if err := kube.Create(s.T.Context(), secret); err != nil {
		s.T.Fatal(err)
	}
}

func frozenBeforeTheFinalizer(s *play) {
	s.frozenAt(s.recording(), s.Make)
	// The object's own cache shows neither finalizer nor id.
	s.AwaitMachines(1)
	s.Running()
	s.eyes.lens.Thaw(s.vms())
	s.current()
	s.WantPOSTs(1)
}

func frozenBeforeThePOST(s *play) {
	s.frozenAt(s.calling(provider.OperationCreate), s.Make)
	s.AwaitMachines(1)
	// The object goes before the cache shows that its VM was ever made.
	s.Running()
	s.Delete()
	s.eyes.lens.Lose(s.vms())
	s.Gone()
	s.AwaitMachines(0)
	s.WantPOSTs(1)
	s.Make()
}

// frozenBeforeTheDELETE: the cache shows an object that is being deleted while
// another one has its name.
func frozenBeforeTheDELETE(s *play, end func(interpose.View)) {
	s.Make()
	s.current()
	s.frozenAt(s.calling(provider.OperationDelete), s.Delete)
	s.Gone()
	s.Make()
	s.AwaitMachines(0)
	end(s.vms())
	s.current()
	s.WantPOSTs(2)
}

func specThereAndBack(s *play) {
	s.Make()
	vm := &computev1.VirtualMachine{ObjectMeta: s.meta(scene.Name)}
	was := s.current().Spec.CPU
	s.eyes.lens.Freeze(s.vms())
	edit(s, vm, func(vm *computev1.VirtualMachine) { vm.Spec.CPU = was * 2 })
	edit(s, vm, func(vm *computev1.VirtualMachine) { vm.Spec.CPU = was })
	s.eyes.lens.Lose(s.vms())
	s.current()
	for _, entry := range s.Door.Record().Entries() {
		if entry.Is(provider.OperationResize) {
			s.T.Errorf("the VM was resized for a spec that nobody wants any more: %v", entry)
		}
	}
}

func secretThereAndBack(s *play) {
	s.Make()
	s.current()
	secret := &corev1.Secret{ObjectMeta: s.meta(credentials)}
	s.eyes.lens.Freeze(s.view("secrets"))
	for _, key := range []string{otherKey, rightKey} {
		edit(s, secret, func(secret *corev1.Secret) { secret.Data = map[string][]byte{computev1.APIKeyKey: []byte(key)} })
	}
	s.eyes.lens.Lose(s.view("secrets"))
	s.probedWith(rightKey)
}

// probedWith waits for another probe and fails unless it comes with a key.
func (s *play) probedWith(key string) {
	s.T.Helper()
	s.AwaitFurther("probes", 2, func(call interpose.Call) bool { return call.Is(provider.OperationCapabilities) })
	for _, entry := range slices.Backward(s.Door.Record().Entries()) {
		if !entry.Is(provider.OperationCapabilities) {
			continue
		}
		if got := entry.Header.Get("Authorization"); got != "Bearer "+key {
			s.T.Errorf("the last probe came with the wrong key, or none")
		}
		return
	}
}

func providerThereAndBack(s *play) {
	s.Make()
	s.current()
	config := &computev1.ProviderConfig{ObjectMeta: s.meta(computev1.DefaultProviderConfig)}
	elsewhere := scene.Provider(s.T)
	s.eyes.lens.Freeze(s.view("providerconfigs"))
	for _, endpoint := range []string{elsewhere.URL(), s.Door.URL()} {
		edit(s, config, func(config *computev1.ProviderConfig) { config.Spec.Endpoint = endpoint })
	}
	s.eyes.lens.Lose(s.view("providerconfigs"))
	s.AwaitLooks(1)
	s.Ready()
	requests, err := elsewhere.Requests(s.T.Context())
	if err != nil {
		s.T.Fatal(err)
	}
	for _, request := range requests {
		if request.Operation != "capabilities" {
			s.T.Errorf("a provider that was the VM's for a moment was asked for %s", request.Operation)
		}
	}
}
