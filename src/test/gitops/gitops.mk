# Delivery with Argo CD and Flux. It is a part of the Makefile.

##@ Delivered from git

.PHONY: gitops
gitops: $(BIN)/helm ## Check all of gitops/, and of what Flux goes by, that needs no cluster.
	@mkdir -p out
	assets=$$(go run ./src/test/controlplane/cmd/assets -complete)
	KUBEBUILDER_ASSETS=$$assets go test -count=1 -v $(TESTARGS) ./src/test/gitops/... >out/gitops.txt || { grep -v '^=== ' out/gitops.txt; exit 1; }
	echo "gitops: $$(grep -c '^ *--- PASS' out/gitops.txt) checks passed"

.PHONY: gitops-settings
gitops-settings:
	@go run ./src/tools/argocd gitops/argocd

# On a cluster with an Argo CD, whose repo-server can reach the address of GITOPS_ADDRESS=: the test serves git there.
GITOPS_ADDRESS ?= 127.0.0.1:0

.PHONY: e2e-gitops
e2e-gitops: $(BIN)/helm ## Deliver gitops/ with the Argo CD on the cluster of KUBECONFIG. E2E_IMAGE= as for e2e.
	@GITOPS_ADDRESS='$(GITOPS_ADDRESS)' E2E_IMAGE='$(E2E_IMAGE)' \
		go test -tags e2e -count=1 -timeout 60m -v $(TESTARGS) ./src/test/e2egitops
