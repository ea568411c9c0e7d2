//go:build !linux

package main

import "syscall"

// diesWithParent does what is possible where the kernel offers nothing better:
// the operator shares the bench's group, and gets a terminal's Ctrl-C.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
