package main

import (
	"context"
	"fmt"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// passes is how many reconciles of a controller have ended since the operator
// started; 0 for one that serves no metrics.
func (o *operator) passes(ctx context.Context, controller string) (int, error) {
	const metric = "controller_runtime_reconcile_total"
	if o.metrics == "" {
		return 0, nil
	}
	response, err := get(ctx, "http://"+o.metrics+"/metrics")
	if err != nil {
		return 0, fmt.Errorf("reading the operator's metrics: %w", err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return 0, fmt.Errorf("reading the operator's metrics: %w", err)
	}
	sum := 0.0
	// Without a controller that has begun there is no such family yet.
	for _, series := range families[metric].GetMetric() {
		for _, label := range series.GetLabel() {
			if label.GetName() == "controller" && label.GetValue() == controller {
				sum += series.GetCounter().GetValue()
			}
		}
	}
	return int(sum), nil
}
