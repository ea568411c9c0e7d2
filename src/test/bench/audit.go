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

// auditLog counts what each user asks of the apiserver. It reads on where it
// stopped: the whole log is too long to be read again and again.
type auditLog struct {
	path   string
	offset int64
	seen   map[string]*tally
}

func newAuditLog(path string) *auditLog { return &auditLog{path: path, seen: map[string]*tally{}} }

// of returns all that a user has asked so far.
func (a *auditLog) of(user string) (tally, error) {
	if err := a.read(); err != nil {
		return tally{}, fmt.Errorf("reading the audit log: %w", err)
	}
	if seen := a.seen[user]; seen != nil {
		return seen.clone(), nil
	}
	return newTally(), nil
}

func (a *auditLog) read() error {
	file, err := os.Open(a.path)
	if errors.Is(err, os.ErrNotExist) {
		// Nobody has asked for anything.
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	// Counting on in another file would count too few, in silence.
	if size < a.offset {
		return errors.New("kube-apiserver has begun another file")
	}
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		return err
	}
	reader := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			// The rest of a line is still to come.
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.take(line); err != nil {
			return err
		}
		a.offset += int64(len(line))
	}
}

// request is what of an auditv1.Event is counted: to decode no more saves most of
// the time that a long log takes.
type request struct {
	Stage auditv1.Stage `json:"stage"`
	Verb  string        `json:"verb"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef      *auditv1.ObjectReference `json:"objectRef"`
	ResponseStatus *struct {
		Code int32 `json:"code"`
	} `json:"responseStatus"`
}

func (a *auditLog) take(line []byte) error {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	seen := a.seen[r.User.Username]
	if seen == nil {
		made := newTally()
		seen = &made
		a.seen[r.User.Username] = seen
	}
	seen.add(&r)
	return nil
}
