# Everything that a developer or CI does with this repository. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

IMG ?= registry.example.com/vmoperator:v0.1.0
MOCK_IMG ?= registry.example.com/vmoperator-mock-provider:v0.1.0
CONTAINER_TOOL ?= docker
PYTHON ?= python3
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# The git revision whose CRDs ours must not break: by default where the branch left origin/main, or the commit before.
CRD_BASE ?=
# The provider that `make conformance` tries.
ENDPOINT ?= http://127.0.0.1:8080
# Further flags for `make run`, `make conformance` and for `make test`'s and `make cover`'s go test.
ARGS ?=
TESTARGS ?=
# How long `make fuzz` tries each target.
FUZZTIME ?= 30s

BIN := bin
VENV := .venv
CRDS := charts/vmoperator/files/crds
RBAC := charts/vmoperator/files/rbac
# What `make generate` writes, and `make verify` compares.
GENERATED := $(CRDS) $(RBAC) 'charts/*README.md' docs/reference 'src/api/*zz_generated*' 'gitops/argocd/*.yaml'

# A machine may have no kubectl; the control plane's own fits its version in any case.
kubectl = $$(command -v kubectl || echo "$$(go run ./src/test/controlplane/cmd/assets)/kubectl")

##@ General

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: all
all: generate lint test build ## Generate, lint, test and build.

##@ Run it

.PHONY: build
build: ## Build bin/vmoperator.
	CGO_ENABLED=0 go build -trimpath -ldflags "-X main.version=$(VERSION)" -o $(BIN)/vmoperator ./src/cmd/manager

.PHONY: run
run: build ## Run the operator against the current kubeconfig; a provider on loopback is allowed. ARGS= adds flags.
	$(BIN)/vmoperator --allow-endpoint-cidrs=127.0.0.0/8,::1/128 $(ARGS)

.PHONY: install
install: ## Install the CRDs into the current cluster.
	@kubectl="$(kubectl)"
	"$$kubectl" apply --server-side -f $(CRDS)
	"$$kubectl" wait --for=condition=Established --timeout=60s -f $(CRDS)

.PHONY: uninstall
uninstall: ## Delete the CRDs, and every object of their kinds, from the current cluster (the operator must still run).
	@kubectl="$(kubectl)"
	# The VMs before ProviderConfigs: these wait for them, and could not count them any more once their kind is gone.
	# AppAutoscalers before MyApps: one that is left would create the Deployment again that goes with its MyApp.
	for kind in virtualmachines.compute.example.com providerconfigs.compute.example.com \
		appautoscalers.apps.example.io myapps.apps.example.io; do
		"$$kubectl" get crd "$$kind" --ignore-not-found -o name | grep -q . || continue
		"$$kubectl" delete "$$kind" --all --all-namespaces
	done
	"$$kubectl" delete --ignore-not-found -f $(CRDS)

.PHONY: docker-build
docker-build: ## Build the image IMG=.
	$(CONTAINER_TOOL) build --build-arg VERSION=$(VERSION) -t $(IMG) .

.PHONY: docker-build-mock
docker-build-mock: ## Build the mock provider's image MOCK_IMG=.
	$(CONTAINER_TOOL) build --build-arg VERSION=$(VERSION) -t $(MOCK_IMG) mockprovider

.PHONY: docker-push
docker-push: ## Push the image IMG=.
	$(CONTAINER_TOOL) push $(IMG)

##@ See it

# The demo is built first, not `go run`, and takes the shell's place: a signal then reaches it, and not only a process
# above it that would end alone. Built like the operator, it shares what was compiled for that.
demo_command = CGO_ENABLED=0 go build -trimpath -o $(BIN)/demo ./src/test/demo && exec $(BIN)/demo

.PHONY: demo
demo: build venv ## Walk through the life of VMs and applications, each step checked; needs no cluster.
	$(demo_command)

.PHONY: conformance
conformance: build ## Try the provider at ENDPOINT= against the contract; ARGS= adds flags.
	$(BIN)/vmoperator conformance --endpoint "$(ENDPOINT)" $(ARGS)

.PHONY: up
up: build venv ## Start control plane, mock provider and operator, and leave them running.
	$(demo_command) -up

.PHONY: down
down: ## Stop what `make up` started.
	$(demo_command) -down

##@ Test it

.PHONY: test
test: ## Run all tests.
	@$(MAKE) test-python
	$(MAKE) test-go
	python=$$(tail -1 out/test-python.txt)
	go=$$(grep -c '^ok' out/test-go.txt)
	# Not there where go test has repeated what it remembers, or only some tests were asked for.
	[ ! -e out/failover.txt ] || cat out/failover.txt
	echo "make test: all passed: mock provider: $$python; Go, with the race detector: $$go packages"

.PHONY: test-go
test-go: venv $(BIN)/helm ## Run the Go tests with the race detector, on a real control plane.
	mkdir -p out
	assets=$$(go run ./src/test/controlplane/cmd/assets -complete)
	KUBEBUILDER_ASSETS=$$assets go test -race -timeout 20m $(TESTARGS) ./... | tee out/test-go.txt | grep -v 'no test files'
	go test -C src/tools/plot $(TESTARGS) ./...

.PHONY: test-python
test-python: venv ## Run the mock provider's tests.
	mkdir -p out
	cd mockprovider
	../$(VENV)/bin/pytest | tee ../out/test-python.txt

# Where the fuzz targets are is asked of git, and which, of go test: a new one is run without being listed. Their own tests
# are not run: a TestMain then starts no control plane.
.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME= (30s), one after the other; the first failure ends it.
	@mkdir -p out
	targets=0
	for dir in $$(git grep -l --untracked '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u); do
		for target in $$(go test -list '^Fuzz' "./$$dir" | grep '^Fuzz'); do
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "./$$dir" >out/fuzz.txt 2>&1 || {
				cat out/fuzz.txt
				echo "make fuzz: $$target in $$dir failed" >&2
				exit 1
			}
			execs=$$(sed -n 's/.*execs: \([0-9]*\).*/\1/p' out/fuzz.txt | tail -1)
			printf '%-20s %-42s %9d execs\n' "$$target" "$$dir" "$${execs:-0}"
			targets=$$((targets + 1))
		done
	done
	echo "make fuzz: $$targets targets, $(FUZZTIME) each, 0 failures"

# From within its package, go test shows what a test prints also when it passes: here, the table.
.PHONY: crash
crash: ## Kill the operator at every effect that it has, and look for a VM too many. TESTARGS= picks points: -run NAME.
	assets=$$(go run ./src/test/controlplane/cmd/assets -complete)
	KUBEBUILDER_ASSETS=$$assets go test -C src/test/crash -count=1 -timeout 40m $(TESTARGS) -crash.all

.PHONY: failover
failover: venv ## Measure how long it takes until a leader is replaced, killed or asked to end: out/failover.txt.
	assets=$$(go run ./src/test/controlplane/cmd/assets -complete)
	KUBEBUILDER_ASSETS=$$assets go test -count=1 -run Replaced $(TESTARGS) ./src/test/leaders
	cat out/failover.txt

# Built first, as the demo is, so that a signal reaches it.
bench_command = CGO_ENABLED=0 go build -trimpath -o $(BIN)/ ./src/test/bench ./src/test/bench/handbook ./src/test/bench/vmprovider/cmd/vmprovider && exec $(BIN)/bench

.PHONY: bench
bench: build ## Measure the operator beside bare clients and the handbook's operator: out/bench.json. ARGS= adds flags.
	$(bench_command) $(ARGS)

.PHONY: bench-quick
bench-quick: build ## The same with a few objects, in under five minutes: out/bench-quick.json.
	$(bench_command) -sizes 50 -resync 10s -poll 5s -provision 3s -out out/bench-quick.json $(ARGS)

.PHONY: plot
plot: ## Draw the figures of the last bench: docs/performance.svg.
	go run -C src/tools/plot . $(CURDIR)/out/bench.json $(CURDIR)/docs/performance.svg

.PHONY: cover
cover: venv $(BIN)/helm ## Measure the Go tests' coverage: out/cover.html.
	mkdir -p out
	assets=$$(go run ./src/test/controlplane/cmd/assets -complete)
	KUBEBUILDER_ASSETS=$$assets go test -timeout 20m -coverpkg=./src/... -coverprofile=out/cover.out $(TESTARGS) ./...
	go tool cover -html=out/cover.out -o out/cover.html
	go tool cover -func=out/cover.out | tail -1

##@ Keep it right

.PHONY: manifests
manifests: $(BIN)/controller-gen ## Generate the CRDs and the role from the markers in the code; render out/*.yaml for kubectl.
	@# Into a folder aside first, so that a kind that is gone leaves no file, and a failure leaves all as it was.
	rm -rf out/manifests
	mkdir -p out/manifests/{crds,rbac} charts/vmoperator/files
	$(BIN)/controller-gen crd paths=./src/api/... output:crd:dir=out/manifests/crds
	$(BIN)/controller-gen rbac:roleName=vmoperator-manager-role \
		$(patsubst %,paths=./%/...,$(wildcard src/controller src/cmd)) output:rbac:dir=out/manifests/rbac
	rm -rf $(CRDS) $(RBAC)
	mv out/manifests/crds $(CRDS)
	# Without a single marker controller-gen writes no role.
	rmdir out/manifests/rbac 2>/dev/null || mv out/manifests/rbac $(RBAC)
	$(MAKE) chart-manifests

.PHONY: generate
generate: manifests chart-docs gitops-settings $(BIN)/controller-gen $(BIN)/crd-ref-docs ## Generate all: manifests, deep copies, reference docs.
	@$(BIN)/controller-gen object paths=./src/api/...
	mkdir -p docs/reference
	$(BIN)/crd-ref-docs --log-level=ERROR --source-path=src/api --config=src/tools/generate/crd-ref-docs.yaml \
		--renderer=markdown --output-path=docs/reference/api.md
	go run ./src/tools/transitions docs/reference
	go run ./src/test/faults/faulttable >out/faults.md
	mv out/faults.md docs/reference/faults.md
	go run ./src/test/rights/rightstable >out/rights.md
	mv out/rights.md docs/reference/rights.md

.PHONY: verify
verify: ## Fail if generated files or go.mod are stale, or a CRD breaks objects that exist.
	@# Compared with themselves, not with the last commit: it tells the truth before a commit as well.
	contents() { git ls-files -z --cached --others --exclude-standard -- $(GENERATED) | sort -z | xargs -0r sha256sum 2>&1; }
	before=$$(contents)
	$(MAKE) generate
	after=$$(contents)
	stale=$$({ diff <(echo "$$before") <(echo "$$after") || true; } | awk '/^[<>]/ {print $$3}' | sort -u)
	if [ -n "$$stale" ]; then
		printf 'make verify: stale, and generated now (commit it): %s\n' $$stale >&2
		exit 1
	fi
	go run ./src/tools/crdcompat $(if $(CRD_BASE),-base $(CRD_BASE)) $(CRDS)
	for module in go.mod src/tools/*/go.mod; do
		go -C "$$(dirname "$$module")" mod tidy -diff >/dev/null || { echo "make verify: $$module: run go mod tidy" >&2; exit 1; }
	done

.PHONY: lint
lint: lint-shell lint-yaml lint-workflows lint-docker lint-python lint-go ## Run all linters.

# The nested modules hold a few lines above the largest dependency trees there are: their format is what can be checked in
# seconds.
.PHONY: lint-go
lint-go: $(BIN)/golangci-lint ## Lint the Go code; the API types by Kubernetes' API conventions as well.
	$(BIN)/golangci-lint run
	for module in src/tools/*/go.mod; do
		$(BIN)/golangci-lint fmt --diff "$${module%/go.mod}"
	done

.PHONY: lint-python
lint-python: venv ## Lint and type-check the mock provider, the sample provider and what tests run.
	cd mockprovider
	../$(VENV)/bin/ruff check . ../docs/samples ../src/test
	../$(VENV)/bin/ruff format --check . ../docs/samples ../src/test
	../$(VENV)/bin/mypy --strict
	../$(VENV)/bin/mypy --strict ../src/test/e2e/relay.py
	../$(VENV)/bin/mypy --strict ../docs/samples/provider/provider.py

.PHONY: lint-yaml
lint-yaml: venv ## Lint the YAML files.
	git ls-files -z --cached --others --exclude-standard '*.yaml' '*.yml' | xargs -0r $(VENV)/bin/yamllint --strict

.PHONY: lint-shell
lint-shell: venv ## Lint the shell scripts, told by their first line.
	git ls-files -z --cached --others --exclude-standard | xargs -0 grep -slIZE '^#!(/usr)?/bin/(env )?(ba)?sh' | xargs -0r $(VENV)/bin/shellcheck

.PHONY: lint-workflows
lint-workflows: venv $(BIN)/actionlint ## Lint the GitHub workflows, and look for what makes them unsafe.
	$(BIN)/actionlint -shellcheck=$(VENV)/bin/shellcheck
	$(VENV)/bin/zizmor --offline --quiet --strict-collection --persona auditor .github

.PHONY: lint-docker
lint-docker: venv ## Lint the Dockerfiles.
	git ls-files -z --cached --others --exclude-standard '*Dockerfile' | xargs -0r $(VENV)/bin/hadolint

.PHONY: vulncheck
vulncheck: $(BIN)/govulncheck ## Look for known vulnerabilities in what the Go code calls; needs vuln.go.dev.
	$(BIN)/govulncheck ./...

.PHONY: fmt
fmt: venv $(BIN)/golangci-lint ## Format the Go and Python code.
	$(BIN)/golangci-lint fmt
	for module in src/tools/*/go.mod; do $(BIN)/golangci-lint fmt "$${module%/go.mod}"; done
	cd mockprovider
	../$(VENV)/bin/ruff check --fix
	../$(VENV)/bin/ruff format

.PHONY: clean
clean: ## Remove what was built here; the control plane in the user's cache stays.
	rm -rf bin out $(VENV)

include charts/chart.mk src/test/e2e/e2e.mk src/test/e2e/kind.mk src/test/gitops/gitops.mk src/tools/release/release.mk

##@ Tools

.PHONY: venv
venv: $(VENV)/installed ## Install the Python tools and dependencies, pinned by hash, into .venv.

$(VENV)/installed: mockprovider/requirements-dev.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

# Pinned in modules of their own: what the tools depend on must not decide about the operator's dependencies. The recipes
# touch what they build, for go build leaves an executable that would not change alone.
$(BIN)/controller-gen $(BIN)/crd-ref-docs &: src/tools/generate/go.mod src/tools/generate/go.sum
	CGO_ENABLED=0 go build -C src/tools/generate -trimpath -o $(CURDIR)/$(BIN)/ tool
	touch $(BIN)/controller-gen $(BIN)/crd-ref-docs

$(BIN)/golangci-lint: src/tools/lint/main.go src/tools/lint/go.mod src/tools/lint/go.sum
	CGO_ENABLED=0 go build -C src/tools/lint -trimpath -o $(CURDIR)/$@ .
	touch $@

$(BIN)/actionlint: src/tools/actionlint/go.mod src/tools/actionlint/go.sum
	CGO_ENABLED=0 go build -C src/tools/actionlint -trimpath -o $(CURDIR)/$@ tool
	touch $@

$(BIN)/govulncheck: src/tools/vulncheck/go.mod src/tools/vulncheck/go.sum
	CGO_ENABLED=0 go build -C src/tools/vulncheck -trimpath -o $(CURDIR)/$@ tool
	touch $@

# Each recipe is one script: a variable or cd holds for the lines after it.
.ONESHELL:
