package appautoscaler

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/appautoscaler/decide"
	"github.com/example/vmoperator/src/controller/cachelag"
	"github.com/example/vmoperator/src/controller/fieldmanager"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/metrics"
)

// act has the one side effect of a decision.
func (r *Reconciler) act(ctx context.Context, p *pass, d decide.Decision) error {
	switch d.Action {
	case decide.Create:
		return r.create(ctx, p)
	case decide.Inspect:
		return r.readLive(ctx, p)
	case decide.PutBack:
		return r.putBack(ctx, p)
	case decide.CreateScaler:
		return r.createScaler(ctx, p)
	case decide.CompareScaler:
		return r.askForScaler(ctx, p)
	case decide.InspectScaler:
		return r.readScalerLive(ctx, p)
	case decide.PutBackScaler:
		return r.putScalerBack(ctx, p)
	case decide.DeleteScaler:
		return r.deleteScaler(ctx, p)
	case decide.None, decide.Wait, decide.Stall:
	}
	return fmt.Errorf("%s is no side effect", d.Action)
}

// create makes the Deployment. One that is there by now has not reached the cache.
func (r *Reconciler) create(ctx context.Context, p *pass) error {
	deployment := newDeployment(p.autoscaler, p.wanted.replicas)
	err := r.Client.Create(ctx, deployment, client.FieldOwner(exampleappsv1.FieldOwner))
	switch {
	case apierrors.IsAlreadyExists(err):
		return cachelag.ErrBehind
	case err != nil:
		return fmt.Errorf("creating the Deployment: %w", err)
	}
	p.deployment, p.fresh = deployment, true
	p.happened(happening.Happening{
		Reason: reasonCreated, About: deployment,
		Note: fmt.Sprintf("Deployment %s created with replicas %d", deployment.Name, *deployment.Spec.Replicas),
	})
	return nil
}

// readLive reads the Deployment past the cache.
func (r *Reconciler) readLive(ctx context.Context, p *pass) error {
	live := &appsv1.Deployment{}
	err := r.APIReader.Get(ctx, p.deploymentKey(), live)
	switch {
	case apierrors.IsNotFound(err):
		live = nil
	case err != nil:
		return fmt.Errorf("reading the Deployment: %w", err)
	}
	p.deployment, p.fresh = live, true
	return nil
}

// change is one field that is put back.
type change struct {
	field    string
	reason   string
	from, to string
	setter   fieldmanager.Entry
}

// what is the change for people.
func (c change) what() string {
	if c.from == c.to {
		return c.field
	}
	return fmt.Sprintf("%s %s -> %s", c.field, c.from, c.to)
}

// declared reports whether what differs is the spec, and not what somebody set: the
// field is still as this operator has set it, or nobody had set it before the spec
// asked for it.
func (c change) declared(p *pass) bool {
	if c.setter.Manager == "" {
		return p.specIsNews()
	}
	return c.setter.Manager == exampleappsv1.FieldOwner
}

// putBack writes the fields that differ, in one patch that is bound to the version
// which was read. It is no apply: dropping an applied number of replicas would
// set 1 of them. The containers are merged by name, so that others stay as they are.
func (r *Reconciler) putBack(ctx context.Context, p *pass) error {
	changes, err := p.changes()
	if err != nil {
		return err
	}
	patch, err := json.Marshal(p.patch(changes))
	if err != nil {
		return fmt.Errorf("writing the patch: %w", err)
	}
	patched := p.deployment.DeepCopy()
	err = r.Client.Patch(ctx, patched, client.RawPatch(types.StrategicMergePatchType, patch), client.FieldOwner(exampleappsv1.FieldOwner))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return cachelag.ErrBehind
	case err != nil:
		return fmt.Errorf("putting the Deployment back: %w", err)
	}
	for _, c := range changes {
		p.account(c)
	}
	p.deployment = patched
	return nil
}

// account tells of a field that was put back, and counts it if somebody else had set
// it.
func (p *pass) account(c change) {
	if c.scheduled(p) {
		return
	}
	note := fmt.Sprintf("%s, set by %s", c.what(), c.setter)
	if c.declared(p) {
		note = c.what() + ", as declared"
	} else {
		p.seen.of(c.field).Corrected(p.now)
		p.seen.of(c.field).other = c.setter
		metrics.AppAutoscalerPutBack.WithLabelValues(c.field).Inc()
	}
	p.happened(happening.Happening{Reason: c.reason, Note: note, About: p.deployment})
}

// changes are the fields that differ and are due, and who has set them.
func (p *pass) changes() ([]change, error) {
	var all []change
	add := func(c change, path fieldpath.Path) (err error) {
		c.setter, err = fieldmanager.Of(p.deployment, path)
		all = append(all, c)
		return err
	}
	if p.replicas() == decide.FieldDiffers {
		c := change{
			field: fieldReplicas, reason: reasonReplicasPutBack,
			from: fmt.Sprint(*p.deployment.Spec.Replicas), to: fmt.Sprint(p.wanted.replicas),
		}
		if err := add(c, fieldmanager.Replicas()); err != nil {
			return nil, err
		}
	}
	if image(p) == decide.ImagePlaced && p.content() == decide.FieldDiffers {
		found := container(p)
		c := change{field: fieldImage, reason: reasonImagePutBack, from: found.Image, to: p.autoscaler.Spec.Image}
		if err := add(c, fieldmanager.Container(found.Name, "image")); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// patch is a strategic merge patch of just these fields.
func (p *pass) patch(changes []change) map[string]any {
	spec := map[string]any{}
	for _, c := range changes {
		switch c.field {
		case fieldReplicas:
			spec["replicas"] = p.wanted.replicas
		case fieldImage:
			spec["template"] = map[string]any{"spec": map[string]any{"containers": []map[string]string{
				{"name": container(p).Name, "image": p.autoscaler.Spec.Image},
			}}}
		}
	}
	return map[string]any{
		"metadata": map[string]any{"uid": p.deployment.UID, "resourceVersion": p.deployment.ResourceVersion},
		"spec":     spec,
	}
}
