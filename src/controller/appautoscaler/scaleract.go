package appautoscaler

import (
	"context"
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	exampleappsv1 "github.com/example/vmoperator/src/api/apps/v1"
	"github.com/example/vmoperator/src/controller/cachelag"
	"github.com/example/vmoperator/src/controller/fieldmanager"
	"github.com/example/vmoperator/src/controller/happening"
	"github.com/example/vmoperator/src/metrics"
)

// createScaler makes the HorizontalPodAutoscaler. One that is there by now has not
// reached the cache.
func (r *Reconciler) createScaler(ctx context.Context, p *pass) error {
	scaler := newScaler(p.autoscaler, p.wanted.scaler)
	err := r.Client.Create(ctx, scaler, client.FieldOwner(exampleappsv1.FieldOwner))
	switch {
	case apierrors.IsAlreadyExists(err):
		return cachelag.ErrBehind
	case err != nil:
		return fmt.Errorf("creating the HorizontalPodAutoscaler: %w", err)
	}
	p.scaler, p.scalerFresh = scaler, true
	p.seen.understood = &understood{*p.wanted.scaler, *scaler.Spec.DeepCopy()}
	least, most := bounds(&scaler.Spec)
	p.happened(happening.Happening{
		Reason: reasonCreated, About: scaler,
		Note: fmt.Sprintf("HorizontalPodAutoscaler %s created: it sets %d to %d replicas", scaler.Name, least, most),
	})
	return nil
}

// askForScaler has the Kubernetes API say what it makes of what is declared, and
// store nothing.
func (r *Reconciler) askForScaler(ctx context.Context, p *pass) error {
	asked := p.scaler.DeepCopy()
	asked.Spec = *p.wanted.scaler.DeepCopy()
	// Its status is written all the time, and does not matter here.
	asked.ResourceVersion = ""
	err := r.Client.Update(ctx, asked, client.DryRunAll, client.FieldOwner(exampleappsv1.FieldOwner))
	switch {
	case apierrors.IsNotFound(err):
		return cachelag.ErrBehind
	case err != nil:
		return fmt.Errorf("comparing the HorizontalPodAutoscaler: %w", err)
	}
	p.seen.understood = &understood{*p.wanted.scaler, *asked.Spec.DeepCopy()}
	return nil
}

// readScalerLive reads the HorizontalPodAutoscaler past the cache.
func (r *Reconciler) readScalerLive(ctx context.Context, p *pass) error {
	live, err := getScaler(ctx, r.APIReader, p.scalerKey())
	if err != nil {
		return err
	}
	p.scaler, p.scalerFresh = live, true
	return nil
}

// putScalerBack writes all of the HorizontalPodAutoscaler's spec: nothing in it is
// for others to set.
func (r *Reconciler) putScalerBack(ctx context.Context, p *pass) error {
	changes, err := p.scalerChanges()
	if err != nil {
		return err
	}
	written := p.scaler.DeepCopy()
	written.Spec = *p.wanted.scaler.DeepCopy()
	err = r.Client.Update(ctx, written, client.FieldOwner(exampleappsv1.FieldOwner))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return cachelag.ErrBehind
	case err != nil:
		return fmt.Errorf("putting the HorizontalPodAutoscaler back: %w", err)
	}
	before := p.scaler
	p.scaler = written
	p.tellScaler(changes, before)
	return nil
}

// tellScaler tells of each change who had made it, and remembers how often.
func (p *pass) tellScaler(changes []change, before *autoscalingv2.HorizontalPodAutoscaler) {
	fought := false
	notes := make([]string, 0, len(changes))
	for _, c := range changes {
		if c.scheduled(p) {
			continue
		}
		if c.declared(p) {
			notes = append(notes, c.what()+", as declared")
			continue
		}
		fought = true
		notes = append(notes, fmt.Sprintf("%s, set by %s", c.what(), c.setter))
		p.seen.of(fieldScaler).other = c.setter
	}
	if fought {
		p.seen.of(fieldScaler).Corrected(p.now)
		metrics.AppAutoscalerPutBack.WithLabelValues(fieldScaler).Inc()
	}
	if len(notes) == 0 {
		return
	}
	p.happened(happening.Happening{
		Reason: reasonScalerPutBack, About: before,
		Note: fmt.Sprintf("HorizontalPodAutoscaler %s: %s", before.Name, strings.Join(notes, "; ")),
	})
}

// scalerChanges are the fields of the HorizontalPodAutoscaler that differ, and who
// has set them.
func (p *pass) scalerChanges() ([]change, error) {
	have, should := p.scaler.Spec, p.seen.understood.stored
	haveLeast, haveMost := bounds(&have)
	least, most := bounds(&should)
	var all []change
	for _, c := range []struct {
		same  bool
		field string
		change
	}{
		{haveLeast == least, fieldLeast, change{from: fmt.Sprint(haveLeast), to: fmt.Sprint(least)}},
		{haveMost == most, fieldMost, change{from: fmt.Sprint(haveMost), to: fmt.Sprint(most)}},
		{have.ScaleTargetRef == should.ScaleTargetRef, "scaleTargetRef", change{}},
		{equality.Semantic.DeepEqual(have.Metrics, should.Metrics), "metrics", change{}},
		{equality.Semantic.DeepEqual(have.Behavior, should.Behavior), "behavior", change{}},
	} {
		if c.same {
			continue
		}
		setter, err := fieldmanager.Of(p.scaler, fieldpath.MakePathOrDie("spec", c.field))
		if err != nil {
			return nil, err
		}
		c.change.field, c.setter = c.field, setter
		all = append(all, c.change)
	}
	return all, nil
}

// deleteScaler deletes the HorizontalPodAutoscaler that was seen, and no other of
// its name.
func (r *Reconciler) deleteScaler(ctx context.Context, p *pass) error {
	uid := p.scaler.UID
	err := r.Client.Delete(ctx, p.scaler, client.Preconditions{UID: &uid})
	switch {
	case apierrors.IsNotFound(err):
		// The cache is behind: who has deleted it has told.
		return r.readScalerLive(ctx, p)
	case err != nil:
		return fmt.Errorf("deleting the HorizontalPodAutoscaler: %w", err)
	}
	p.happened(happening.Happening{
		Reason: reasonScalerDeleted, About: p.scaler,
		Note: fmt.Sprintf("HorizontalPodAutoscaler %s deleted: maxReplicas is not declared any more", p.scaler.Name),
	})
	return r.readScalerLive(ctx, p)
}
