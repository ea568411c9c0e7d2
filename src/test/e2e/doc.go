// Package e2e tests the chart as its users have it: installed by Helm on a cluster
// whose pods run, with images built from the repository's Dockerfiles.
//
// The tests need the build tag e2e, the cluster of KUBECONFIG, a command E2E_IMAGE
// that is called as `$E2E_IMAGE TAG DIR`, builds the Dockerfile in DIR and loads
// the image into the cluster's nodes, and the programs of bin: see `make e2e`. The
// cluster must be one for tests. They leave it as it was.
package e2e
