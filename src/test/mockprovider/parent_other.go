//go:build !linux

package mockprovider

import "syscall"

// diesWithParent does what is possible where the kernel offers nothing better:
// the provider shares the caller's group, and gets a terminal's Ctrl-C.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
