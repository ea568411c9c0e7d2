// Package monitoring requires the Prometheus operator's kinds: from their Go types
// controller-gen makes the CRDs that the chart's ServiceMonitor and PrometheusRule
// are checked against.
package monitoring

import _ "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1" // Required, not used.
