// Package e2egitops delivers gitops/ with a real Argo CD, on the cluster of
// KUBECONFIG, from a clone of this repository that the test serves: from the first
// Application until everything is gone again. It needs an Argo CD in the namespace
// argocd that can reach the test at GITOPS_ADDRESS.
package e2egitops
