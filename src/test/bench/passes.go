package main

import (
	"context"
	"fmt"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// passes is how many reconciles of a controller have ended since the operator
// started.
func (o *operator) passes(ctx context.Context, controller string) (int, error) {
	const metric = "controller_runtime_reconcile_total"
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
	family, found := families[metric]
	if !found {
		return 0, fmt.Errorf("the operator's metrics have no %s", metric)
	}
	sum := 0.0
	for _, series := range family.GetMetric() {
		for _, label := range series.GetLabel() {
			if label.GetName() == "controller" && label.GetValue() == controller {
				sum += series.GetCounter().GetValue()
			}
		}
	}
	return int(sum), nil
}
