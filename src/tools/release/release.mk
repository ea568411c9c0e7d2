# What publishes: images from main, and releases. It is a part of the Makefile; src/tools/release is its tool.

# Where images are published, and charts below it.
REGISTRY ?= ghcr.io/example
PLATFORMS ?= linux/amd64,linux/arm64
# The images' tag: a version, or the commit of main that they are built from.
TAG ?= $(VERSION)
# Where layers are kept between builds, a tag beside the images'; empty: nowhere.
CACHE_TAG ?= cache
COSIGN ?= cosign
# Such as --plain-http, for a registry on this machine.
HELM_PUSH_ARGS ?=
# What buildx says of each image that it pushed.
IMAGES := out/images
comma := ,
RELEASE := out/release
release = go run ./src/tools/release

##@ Publish it

.PHONY: images
images: ## Build both images for PLATFORMS=, with SBOM and provenance, and push them to REGISTRY= as TAG=: out/images.
	@rm -rf $(IMAGES)
	mkdir -p $(IMAGES)
	publish() {
		$(CONTAINER_TOOL) buildx build --push --platform $(PLATFORMS) --build-arg VERSION=$(VERSION) \
			--provenance mode=max --sbom true --metadata-file $(IMAGES)/$$1.json --tag $(REGISTRY)/$$1:$(TAG) \
			$(if $(CACHE_TAG),--cache-from type=registry$(comma)ref=$(REGISTRY)/$$1:$(CACHE_TAG)) \
			$(if $(CACHE_TAG),--cache-to type=registry$(comma)ref=$(REGISTRY)/$$1:$(CACHE_TAG)$(comma)mode=max) "$$2"
	}
	publish vmoperator .
	publish vmoperator-mock-provider mockprovider

.PHONY: promote
promote: ## Commit the digests in out/images to gitops/image.yaml on origin's main; an image older than the one there is left out.
	@$(release) promote $(IMAGES) gitops/image.yaml

.PHONY: release-check
release-check: ## Fail unless the charts, the changelog and the Makefile are those of VERSION=, as in v0.1.0.
	@$(release) check $(VERSION)

# In a copy: the chart in the repository installs the images of its own values.
.PHONY: release-files
release-files: $(BIN)/helm $(BIN)/helm-docs ## Package the chart for the images in out/images, render it for kubectl, cut the notes: out/release.
	@rm -rf $(RELEASE)
	mkdir -p $(RELEASE)/chart
	$(release) notes $(VERSION) >$(RELEASE)/notes.md
	cp -R $(CHART) $(RELEASE)/chart/vmoperator
	$(release) stamp $(IMAGES) $(RELEASE)/chart/vmoperator
	$(BIN)/helm-docs --log-level warning --chart-search-root $(RELEASE)/chart --sort-values-order file
	$(BIN)/helm package --destination $(RELEASE) $(RELEASE)/chart/vmoperator
	$(MAKE) chart-manifests CHART=$(RELEASE)/chart/vmoperator MANIFESTS=$(RELEASE)
	rm -r $(RELEASE)/chart
	cd $(RELEASE)
	sha256sum *.tgz *.yaml >checksums.txt

# Helm tells the digest in a line of its own.
.PHONY: release-push
release-push: $(BIN)/helm ## Push the chart in out/release to REGISTRY=/charts.
	@$(BIN)/helm push $(HELM_PUSH_ARGS) $(RELEASE)/vmoperator-*.tgz oci://$(REGISTRY)/charts 2>&1 | tee $(RELEASE)/pushed.txt
	digest=$$(awk '$$1 == "Digest:" {print $$2}' $(RELEASE)/pushed.txt)
	rm $(RELEASE)/pushed.txt
	echo "$(REGISTRY)/charts/vmoperator@$${digest:?the push told no digest}" >$(IMAGES)/chart.txt

# By digest: a tag could be moved meanwhile. Keyless: the certificate names the workflow that ran, or the person.
.PHONY: release-sign
release-sign: ## Sign both images, the chart and the checksums with cosign.
	@{ $(release) references $(IMAGES) && cat $(IMAGES)/chart.txt; } | xargs -n1 $(COSIGN) sign --yes
	$(COSIGN) sign-blob --yes --bundle $(RELEASE)/checksums.txt.sigstore.json $(RELEASE)/checksums.txt

.PHONY: release-github
release-github: ## Make the GitHub release of VERSION= from out/release; its tag must be there.
	@cd $(RELEASE)
	gh release create $(VERSION) --verify-tag --title $(VERSION) --notes-file notes.md \
		$(if $(findstring -,$(VERSION)),--prerelease) *.tgz *.yaml checksums.txt checksums.txt.sigstore.json
