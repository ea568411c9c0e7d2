package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// acquire makes a folder and takes it for this process, which keeps it until the
// lock is closed or the process ends, in whatever way: no stale lock exists.
func acquire(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(lockPath(dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK})
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("%s is in use by another process (make down, or Ctrl-C where it runs, ends it): %w", dir, err)
	}
	return file, nil
}

// holder is the id of the process that holds the folder; 0 if none does. The
// kernel tells it, so that it can never be that of a stranger.
func holder(dir string) (int, error) {
	file, err := os.OpenFile(lockPath(dir), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	if lock.Type == syscall.F_UNLCK {
		return 0, nil
	}
	return int(lock.Pid), nil
}

func lockPath(dir string) string { return filepath.Join(dir, "lock") }
