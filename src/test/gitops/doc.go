// Package gitops tests what is in gitops/, as far as it can be tested without Argo
// CD: what Argo CD would read is valid for it, may be delivered by its project, and
// its health checks and actions, run as it runs them, say of each status that the
// controllers write what is meant; so does kstatus, which Flux and Helm go by.
//
// The schemas of testdata/argocd-3.5.7 are manifests/crds of
// https://github.com/argoproj/argo-cd at v3.5.7, compressed.
package gitops
