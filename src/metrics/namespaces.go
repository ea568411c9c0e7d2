package metrics

import "github.com/prometheus/client_golang/prometheus"

// namespaces has one series for each namespace: that of the state that it is in.
var namespaces = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Namespace: namespace, Name: "watched_namespace",
	Help: "1 for the state of a namespace that the operator was told to watch: watched, refused (a right is missing) " +
		"or foreign (another release works there). An empty namespace stands for all.",
}, []string{"namespace", "state"})

// SetNamespace shows the state of a namespace that the operator was told to watch.
func SetNamespace(name, state string) {
	namespaces.DeletePartialMatch(prometheus.Labels{"namespace": name})
	namespaces.WithLabelValues(name, state).Set(1)
}
