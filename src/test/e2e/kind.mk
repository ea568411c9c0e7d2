# A cluster in Docker. It is a part of the Makefile.

# The node image, with its digest; empty: the one that this version of kind comes with. Others are in kind's release notes.
KIND_NODE ?=
KIND_CLUSTER := vmoperator
# What the API server says of requests; the tests read it.
KIND_AUDIT := out/kind/audit

##@ On kind

.PHONY: kind
kind: $(BIN)/kind ## Create the kind cluster vmoperator, with the node image KIND_NODE=.
	@mkdir -p $(KIND_AUDIT)
	# Made here, anybody may read it: the API server would make it for root alone.
	touch $(KIND_AUDIT)/audit.log
	$(BIN)/kind create cluster --name $(KIND_CLUSTER) --config src/test/e2e/kind.yaml --wait 180s $(if $(KIND_NODE),--image $(KIND_NODE))

.PHONY: kind-load
kind-load: $(BIN)/kind ## Build both images, IMG= and MOCK_IMG=, and load them into the kind cluster.
	@src/test/e2e/kind-image $(IMG) . --build-arg VERSION=$(VERSION)
	src/test/e2e/kind-image $(MOCK_IMG) mockprovider --build-arg VERSION=$(VERSION)

.PHONY: kind-logs
kind-logs: $(BIN)/kind ## Put the logs of the kind cluster's nodes and pods into out/kind/logs.
	@$(BIN)/kind export logs --name $(KIND_CLUSTER) out/kind/logs

.PHONY: kind-down
kind-down: $(BIN)/kind ## Delete the kind cluster vmoperator.
	@$(BIN)/kind delete cluster --name $(KIND_CLUSTER)
	rm -rf $(KIND_AUDIT)

$(BIN)/kind: src/tools/kind/go.mod src/tools/kind/go.sum
	CGO_ENABLED=0 go build -C src/tools/kind -trimpath -o $(CURDIR)/$@ tool
	touch $@
