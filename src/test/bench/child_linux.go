package main

import "syscall"

// diesWithParent: the kernel ends the operator with the bench, however that ends.
// A group of its own keeps a terminal's Ctrl-C away from it: the bench stops it,
// in the right order.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
