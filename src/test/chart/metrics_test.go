package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	// It registers the metrics of controllers.
	_ "sigs.k8s.io/controller-runtime/pkg/controller"
	controllermetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"github.com/example/vmoperator/src/metrics"
)

// alert is one rule of files/alerts.yaml.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var content struct {
		Groups []struct {
			Rules []alert `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(file(t, "files/alerts.yaml"), &content); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, group := range content.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no alerts")
	}
	return all
}

// file is a file of the chart.
func file(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chart, path))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// queries are what the dashboard asks Prometheus, by the panel's title.
func queries(t *testing.T) map[string][]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(file(t, "files/dashboard.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			found[panel.Title] = append(found[panel.Title], target.Expr)
		}
	}
	if len(found) == 0 {
		t.Fatal("the dashboard asks nothing")
	}
	return found
}

var (
	selected = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}`)
	// series are what a histogram's name ends in, in a query.
	series = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// exists tells whether a metric of the name is registered: a registry refuses
// another one.
func exists(t *testing.T, registry prometheus.Registerer, name string) bool {
	t.Helper()
	probe := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "A name that may be taken."})
	if registry.Register(probe) != nil {
		return true
	}
	registry.Unregister(probe)
	return false
}

// wantMetrics checks that a query reads metrics of the operator's that exist, and
// of one release alone.
func wantMetrics(t *testing.T, registry prometheus.Registerer, where, query string) {
	t.Helper()
	found := selected.FindAllStringSubmatch(query, -1)
	if len(found) == 0 {
		t.Errorf("%s reads nothing: %s", where, query)
	}
	for _, match := range found {
		name, labels := match[1], match[2]
		// Prometheus makes it.
		if name != "up" && !exists(t, registry, name) && !exists(t, registry, series.ReplaceAllString(name, "")) {
			t.Errorf("%s reads %s, which nobody writes", where, name)
		}
		if !strings.Contains(labels, `job=`) {
			t.Errorf("%s reads %s of all releases", where, name)
		}
	}
}

// register adds the operator's metrics to those of controller-runtime, whose
// registry is one for the process.
var register = sync.OnceValue(func() error { return metrics.Register(controllermetrics.Registry) })

func TestAlertsAndDashboardReadMetricsThatExist(t *testing.T) {
	t.Parallel()
	if err := register(); err != nil {
		t.Fatal(err)
	}
	registry := controllermetrics.Registry
	if exists(t, registry, "vmoperator_no_such_metric") {
		t.Fatal("every metric exists")
	}
	for _, alert := range alerts(t) {
		wantMetrics(t, registry, alert.Alert, alert.Expr)
	}
	for panel, all := range queries(t) {
		for _, query := range all {
			wantMetrics(t, registry, panel, query)
		}
	}
}

func TestEveryAlertHasASeverityWordsAndARunbook(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	runbooks := string(page)
	for _, alert := range alerts(t) {
		if alert.Labels["severity"] == "" || alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%s has no severity, no summary or no description", alert.Alert)
		}
		if !strings.Contains(runbooks, "\n## "+alert.Alert+"\n") {
			t.Errorf("docs/alerts.md has no section %s", alert.Alert)
		}
		runbooks = strings.Replace(runbooks, "\n## "+alert.Alert+"\n", "\n", 1)
	}
	if left := regexp.MustCompile(`(?m)^## .*$`).FindString(runbooks); left != "" {
		t.Errorf("docs/alerts.md has the section %q for no alert", left)
	}
}

func TestRulesAndDashboardAreRenderedWhole(t *testing.T) {
	t.Parallel()
	var rule, board bool
	for _, object := range render(t, "--values="+chart+"/ci/everything-values.yaml") {
		switch object.GetKind() {
		case "PrometheusRule":
			rule = true
		case "ConfigMap":
			data, _ := object.Object["data"].(map[string]any)
			text, _ := data["vmoperator.json"].(string)
			board = board || json.Valid([]byte(text))
		}
	}
	if !rule || !board {
		t.Errorf("there are rules: %t, there is a dashboard: %t", rule, board)
	}
}
