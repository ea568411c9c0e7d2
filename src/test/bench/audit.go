package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditLog counts what one user asks of the apiserver. It reads on where it
// stopped: the whole log is too long to be read again and again.
type auditLog struct {
	path, user string

	offset int64
	seen   tally
}

func newAuditLog(path, user string) *auditLog {
	return &auditLog{path: path, user: user, seen: tally{writes: counts{}, reads: counts{}}}
}

// read returns all that was counted so far.
func (a *auditLog) read() (tally, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return tally{}, fmt.Errorf("reading the audit log: %w", err)
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return tally{}, fmt.Errorf("reading the audit log: %w", err)
	}
	// Counting on in another file would count too few, in silence.
	if size < a.offset {
		return tally{}, errors.New("reading the audit log: kube-apiserver has begun another file")
	}
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		return tally{}, fmt.Errorf("reading the audit log: %w", err)
	}
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			// The rest of a line is still to come.
			return a.seen.clone(), nil
		}
		if err != nil {
			return tally{}, fmt.Errorf("reading the audit log: %w", err)
		}
		if err := a.take(line); err != nil {
			return tally{}, err
		}
		a.offset += int64(len(line))
	}
}

func (a *auditLog) take(line []byte) error {
	var event auditv1.Event
	if err := json.Unmarshal(line, &event); err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	if event.User.Username == a.user && event.Stage == auditv1.StageResponseComplete {
		a.seen.add(&event)
	}
	return nil
}
