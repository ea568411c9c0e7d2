# Delivery with Argo CD and Flux. It is a part of the Makefile.

##@ Delivered from git

.PHONY: gitops
gitops: $(BIN)/helm ## Check all of gitops/, and of what Flux goes by, that needs no cluster.
	@mkdir -p out
	go test -count=1 -v $(TESTARGS) ./src/test/gitops >out/gitops.txt || { grep -v '^=== ' out/gitops.txt; exit 1; }
	echo "gitops: $$(grep -c '^ *--- PASS' out/gitops.txt) checks passed"

.PHONY: gitops-settings
gitops-settings:
	@go run ./src/tools/argocd gitops/argocd
