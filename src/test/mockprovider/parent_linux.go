package mockprovider

import "syscall"

// diesWithParent: the kernel ends the provider with the process that started it,
// however that ends. A group of its own keeps a terminal's Ctrl-C away from it, so
// that what the caller still has to do finds it alive. The kernel means the
// thread that started it; the Go runtime ends none unless a goroutine locks one.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
