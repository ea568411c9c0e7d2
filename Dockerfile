# syntax=docker/dockerfile:1
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY src ./src
# Declared here, for an argument that changes makes all that runs after it run again: the download is of every version and platform.
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /vmoperator ./src/cmd/manager

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /vmoperator /vmoperator
ARG VERSION=dev
LABEL org.opencontainers.image.title="VMOperator" \
      org.opencontainers.image.source="https://github.com/example/vmoperator" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
USER 65532:65532
ENTRYPOINT ["/vmoperator"]
