# What is done with the chart. It is a part of the Makefile.

CHART := charts/vmoperator
# Values to try the chart with: each switch of it, in combinations that people use.
CHART_VALUES := $(sort $(wildcard $(CHART)/ci/*-values.yaml))
PROMTOOL ?= promtool
# Where the chart's checks leave what they rendered.
RENDERED := out/chart
# Kinds that a cluster knows once the Prometheus operator is there.
MONITORING := monitoring.coreos.com/v1/ServiceMonitor,monitoring.coreos.com/v1/PrometheusRule

# The version of Kubernetes that the tests run, and that Helm 3 must be told: it would take itself for a client of 1.20.
kubernetes = $(call version,controlplane,k8s.io/kubernetes)
# The version of a module that a module of tools requires.
version = $(shell awk '{for (i = 1; i < NF; i++) if ($$i == "$(2)") {print $$(i + 1); exit}}' src/tools/$(1)/go.mod)
minor = $(word 2,$(subst ., ,$(kubernetes)))

##@ The chart

.PHONY: chart
chart: chart-lint chart-unit chart-objects chart-alerts ## Check all of the chart that needs no cluster.
	@suites=$$(sed -n 's/^Test Suites: *\([0-9]*\) passed.*/\1 suites/p' $(RENDERED)/unit.txt)
	tests=$$(sed -n 's/^Tests: *\([0-9]*\) passed.*/\1 tests/p' $(RENDERED)/unit.txt)
	objects=$$(sed -n 's/.*resources found.* Valid: \([0-9]*\),.*/\1/p' $(RENDERED)/objects.txt)
	echo "make chart: $(words $(CHART_VALUES)) values files linted by Helm 3, Helm 4 and ct; $$tests in $$suites;" \
		"$$objects objects valid for Kubernetes $(kubernetes), the same from Helm 3 and 4; $$(cat $(RENDERED)/alerts.txt)"

.PHONY: chart-lint
chart-lint: venv $(BIN)/helm $(BIN)/helm3 $(BIN)/ct ## Lint the chart with Helm 3, Helm 4 and chart-testing.
	@for helm in helm helm3; do
		for values in $(CHART_VALUES); do
			$(BIN)/$$helm lint --strict --quiet --values "$$values" $(CHART)
		done
	done
	# Its schema of Chart.yaml comes with its source.
	schema=$$(go -C src/tools/chart list -m -f '{{.Dir}}' github.com/helm/chart-testing/v3)/etc/chart_schema.yaml
	PATH="$(CURDIR)/$(BIN):$(CURDIR)/$(VENV)/bin:$$PATH" ct lint --config ct.yaml --chart-yaml-schema "$$schema" --charts $(CHART)

.PHONY: chart-unit
chart-unit: $(BIN)/helm-unittest ## Run the chart's unit tests, and those of its subchart.
	@mkdir -p $(RENDERED)
	$(BIN)/helm-unittest --strict $(TESTARGS) $(CHART) $(CHART)/charts/mock-provider | tee $(RENDERED)/unit.txt

.PHONY: chart-objects
chart-objects: $(BIN)/helm $(BIN)/helm3 $(BIN)/kubeconform $(RENDERED)/schemas ## Check each rendered object against its schema, and Helm 3 against 4.
	@rm -rf $(RENDERED)/helm $(RENDERED)/helm3
	mkdir -p $(RENDERED)/helm $(RENDERED)/helm3
	for values in $(CHART_VALUES); do
		name=$$(basename "$$values" -values.yaml)
		for helm in helm helm3; do
			$(BIN)/$$helm template vmoperator $(CHART) --namespace vmoperator-system --values "$$values" \
				--kube-version $(kubernetes) --api-versions $(MONITORING) >$(RENDERED)/$$helm/$$name.yaml
		done
		# They differ in blank lines between documents.
		diff --ignore-blank-lines $(RENDERED)/helm3/$$name.yaml $(RENDERED)/helm/$$name.yaml
	done
	$(BIN)/kubeconform -strict -summary -schema-location '$(RENDERED)/schemas/{{.ResourceKind}}{{.KindSuffix}}.json' \
		$(RENDERED)/helm/*.yaml | tee $(RENDERED)/objects.txt

# From the source of the API server that the tests run, from our CRDs, and from those of the Prometheus operator.
$(RENDERED)/schemas: src/tools/controlplane/go.mod src/tools/monitoring/go.mod $(wildcard src/test/chart/schemas/*.go $(CRDS)/*) | $(BIN)/controller-gen
	@rm -rf $@ $(RENDERED)/monitoring
	mkdir -p $(RENDERED)/monitoring
	cd src/tools/monitoring
	$(CURDIR)/$(BIN)/controller-gen crd:ignoreUnexportedFields=true \
		paths=github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1 output:crd:dir=$(CURDIR)/$(RENDERED)/monitoring
	cd $(CURDIR)
	source=$$(go -C src/tools/controlplane mod download -json k8s.io/kubernetes@$(kubernetes) | awk -F'"' '$$2 == "Dir" {print $$4}')
	go run ./src/test/chart/schemas -swagger "$$source/api/openapi-spec/swagger.json" -out $@ $(CRDS)/*.yaml $(RENDERED)/monitoring/*.yaml

# The rules are a file as Prometheus reads it; the chart puts the release's names into it. promtool is not built here: its
# module is most of the world's clouds.
.PHONY: chart-alerts
chart-alerts: ## Check the alerts, and run their tests.
	@mkdir -p $(RENDERED)
	command -v $(PROMTOOL) >/dev/null || {
		echo "make chart-alerts: needs promtool, of Debian's package prometheus or of any release: PROMTOOL= says where it is" >&2
		exit 1
	}
	$(PROMTOOL) check rules --lint=all --lint-fatal $(CHART)/files/alerts.yaml
	$(PROMTOOL) test rules $(CHART)/tests/alerts/*.yaml
	echo "$$(grep -c 'alert:' $(CHART)/files/alerts.yaml) alerts, $$(grep -c 'alertname:' $(CHART)/tests/alerts/*.yaml | awk -F: '{n += $$NF} END {print n}') trials of them" >$(RENDERED)/alerts.txt

.PHONY: chart-docs
chart-docs: $(BIN)/helm-docs
	@$(BIN)/helm-docs --log-level warning --chart-search-root charts --sort-values-order file

# For people without Helm: the release vmoperator in vmoperator-system, which also works on the namespace default.
MANIFESTS := out
.PHONY: chart-manifests
chart-manifests: $(BIN)/helm
	@mkdir -p $(MANIFESTS)
	render() { $(BIN)/helm template vmoperator $(CHART) --no-hooks --namespace vmoperator-system --kube-version $(kubernetes) "$$@"; }
	render --show-only templates/crds.yaml >$(MANIFESTS)/crds.yaml
	{
		printf '%s\n' 'apiVersion: v1' 'kind: Namespace' 'metadata:' '  name: vmoperator-system' \
			'  labels:' '    pod-security.kubernetes.io/enforce: restricted'
		render --set crds.enabled=false --set 'watchNamespaces={vmoperator-system,default}'
	} >$(MANIFESTS)/install.yaml
	render --set mock-provider.enabled=true --show-only 'charts/mock-provider/templates/*' >$(MANIFESTS)/mock-provider.yaml

# The recipes stamp versions that a released binary has: Helm 3 takes the cluster's version from there, where it has none.
$(BIN)/helm: src/tools/helm/go.mod src/tools/helm/go.sum
	CGO_ENABLED=0 go build -C src/tools/helm -trimpath -o $(CURDIR)/$@ \
		-ldflags "-X helm.sh/helm/v4/internal/version.version=$(call version,helm,helm.sh/helm/v4)" helm.sh/helm/v4/cmd/helm
	touch $@

helm3_kubernetes = $(foreach package,chartutil lint/rules,-X helm.sh/helm/v3/pkg/$(package).k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/$(package).k8sVersionMinor=$(minor))
$(BIN)/helm3: src/tools/chart/go.mod src/tools/chart/go.sum
	CGO_ENABLED=0 go build -C src/tools/chart -trimpath -o $(CURDIR)/$@ \
		-ldflags "-X helm.sh/helm/v3/internal/version.version=$(call version,chart,helm.sh/helm/v3) $(helm3_kubernetes)" helm.sh/helm/v3/cmd/helm
	touch $@

$(BIN)/helm-unittest: src/tools/chart/go.mod src/tools/chart/go.sum
	CGO_ENABLED=0 go build -C src/tools/chart -trimpath -o $(CURDIR)/$@ \
		-ldflags "$(helm3_kubernetes)" github.com/helm-unittest/helm-unittest/cmd/helm-unittest
	touch $@

$(BIN)/helm-docs: src/tools/chart/go.mod src/tools/chart/go.sum
	CGO_ENABLED=0 go build -C src/tools/chart -trimpath -o $(CURDIR)/$@ \
		-ldflags "-X main.version=$(call version,chart,github.com/norwoodj/helm-docs)" github.com/norwoodj/helm-docs/cmd/helm-docs
	touch $@

$(BIN)/ct: src/tools/chart/go.mod src/tools/chart/go.sum src/tools/chart/ct/main.go
	CGO_ENABLED=0 go build -C src/tools/chart -trimpath -o $(CURDIR)/$@ \
		-ldflags "-X github.com/helm/chart-testing/v3/ct/cmd.Version=$(call version,chart,github.com/helm/chart-testing/v3)" ./ct
	touch $@

$(BIN)/kubeconform: src/tools/helm/go.mod src/tools/helm/go.sum
	CGO_ENABLED=0 go build -C src/tools/helm -trimpath -o $(CURDIR)/$@ \
		-ldflags "-X main.version=$(call version,helm,github.com/yannh/kubeconform)" github.com/yannh/kubeconform/cmd/kubeconform
	touch $@
