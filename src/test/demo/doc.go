// Command demo shows what the operator does, on a real control plane and the mock
// provider, all on loopback:
//
//	make demo   walks through the life of VMs and applications, each step checked
//	make up     leaves the same running, to be explored
//	make down   stops it
//
// A further step is a function and a line in story.
package main
