# Tests on the cluster of KUBECONFIG, which must be one for tests. It is a part of the Makefile.

# Called as `E2E_IMAGE TAG DIR`: builds the Dockerfile in DIR and loads the image into the cluster's nodes.
E2E_IMAGE ?= $(CURDIR)/src/test/e2e/kind-image

##@ On a cluster

.PHONY: e2e
e2e: chart-manifests $(BIN)/helm $(BIN)/helm3 ## Test the chart on the cluster of KUBECONFIG (`make kind` makes one). E2E_AUDIT_LOG= checks its rights.
	@E2E_IMAGE='$(E2E_IMAGE)' go test -tags e2e -count=1 -timeout 40m -v $(TESTARGS) ./src/test/e2e

.PHONY: chart-install
chart-install: $(BIN)/helm $(BIN)/ct ## Install the chart on the cluster of KUBECONFIG with each of its values files, and run its tests.
	@PATH="$(CURDIR)/$(BIN):$$PATH" ct install --config ct.yaml --charts $(CHART)
