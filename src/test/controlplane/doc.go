// Package controlplane runs a real Kubernetes control plane on loopback, for tests, the demo and benchmarks.
//
// Assets finds the executables or builds them, Start runs etcd and kube-apiserver (and kube-controller-manager, where
// garbage collection or the deletion of namespaces matters) and Stop ends them. Nothing that Start started outlives the
// process that called it, not even when that process is killed.
package controlplane
