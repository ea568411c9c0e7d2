package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// biggestPage is the most that a client may ask for.
	biggestPage = 500
	// defaultPage is how many VMs a page has when nobody asks.
	defaultPage = 100
	// mostPages ends a walk through pages that lead nowhere.
	mostPages = 10_000
)

func listChecks() []Check {
	needs := []need{needHTTP, needList}
	return []Check{
		{
			Name:  "list/every-vm",
			Wants: "the pages of GET /vms show each VM once, with id, image and phase",
			Where: openapi + "/components/schemas/Page",
			needs: needs, run: listsEveryVM,
		},
		{
			Name:  "list/limit",
			Wants: "limit, from 1 to 500, is the most that a page has; 100 without it",
			Where: openapi + "/paths/~1vms/get",
			needs: needs, run: keepsLimit,
		},
		{
			Name:  "list/bad-limit",
			Wants: "a limit that is no number from 1 to 500 answers 400",
			Where: openapi + "/components/responses/Malformed",
			needs: needs, run: refusesLimit,
		},
		{
			Name:  "list/bad-cursor",
			Wants: "a cursor that was never given out answers 400: as the end of the list it would say that VMs are gone",
			Where: openapi + "/components/responses/Malformed",
			needs: needs, run: refusesCursor,
		},
		{
			Name:  "list/pages-under-change",
			Wants: "a VM made while a client turns pages is neither skipped nor doubled, nor does the deletion of a VM move others",
			Where: openapi + "/paths/~1vms/get",
			needs: needs, run: pagesUnderChange,
		},
		{
			Name:  "list/find-by-key",
			Wants: "GET /vms?key= answers with one page with the VM that the key made, which carries it; a deleted VM is not found",
			Where: openapi + "/paths/~1vms/get",
			needs: []need{needHTTP, needList, needIdempotency}, run: findsByKey,
		},
		{
			Name:  "list/unknown-key",
			Wants: "GET /vms?key= with a key that made no VM answers with an empty page",
			Where: openapi + "/paths/~1vms/get",
			needs: needs, run: findsNothing,
		},
	}
}

// page is a page in an answer.
type page struct {
	Items *[]document `json:"items"`
	Next  *string     `json:"next"`
}

// page reads one page.
func (s *subject) page(ctx context.Context, query url.Values) (page, error) {
	answer, err := s.wire.get(ctx, "/vms", query)
	if err != nil {
		return page{}, err
	}
	if err := answer.want("GET /vms", http.StatusOK); err != nil {
		return page{}, err
	}
	var got page
	switch err := json.Unmarshal(answer.body, &got); {
	case answer.media() != "application/json":
		return page{}, errors.New("GET /vms: the media type is not application/json")
	case err != nil:
		return page{}, errors.New("GET /vms: the body is not JSON, or a field has another type")
	case got.Items == nil || got.Next == nil:
		return page{}, errors.New("GET /vms: items or next is missing")
	}
	return got, nil
}

// walk reads all pages. between is called after each but the last; it may be nil.
func (s *subject) walk(ctx context.Context, limit int, between func() error) ([]document, error) {
	var all []document
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for range mostPages {
		got, err := s.page(ctx, query)
		if err != nil {
			return nil, err
		}
		all = append(all, *got.Items...)
		if *got.Next == "" {
			return all, nil
		}
		query.Set("cursor", *got.Next)
		if between != nil {
			if err := between(); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("GET /vms: no end after %d pages", mostPages)
}

// countNamed counts the VMs of a name.
func (s *subject) countNamed(ctx context.Context, name string) (int, error) {
	all, err := s.walk(ctx, biggestPage, nil)
	count := 0
	for i := range all {
		if all[i].Name == name {
			count++
		}
	}
	return count, err
}

// several makes VMs that lists must show.
func (s *subject) several(ctx context.Context, count int) ([]string, error) {
	ids := make([]string, 0, count)
	for range count {
		made, err := s.create(ctx)
		if err != nil {
			return nil, err
		}
		ids = append(ids, made.ID)
	}
	return ids, s.settled(ctx, time.Now())
}

// wantOnce is an error unless each id is in a list once.
func wantOnce(all []document, ids []string) error {
	times := map[string]int{}
	for i := range all {
		times[all[i].ID]++
	}
	for _, id := range ids {
		if times[id] != 1 {
			return fmt.Errorf("GET /vms: the pages show a VM %d times instead of once", times[id])
		}
	}
	return nil
}

func listsEveryVM(ctx context.Context, s *subject) error {
	ids, err := s.several(ctx, 3)
	if err != nil {
		return err
	}
	all, err := s.walk(ctx, biggestPage, nil)
	if err != nil {
		return err
	}
	for i := range all {
		if !safeID.MatchString(all[i].ID) || all[i].Image == "" || all[i].Phase == "" {
			return errors.New("GET /vms: a VM has no id, image or phase, or an id that is not safe in a path")
		}
	}
	return wantOnce(all, ids)
}

func keepsLimit(ctx context.Context, s *subject) error {
	if _, err := s.several(ctx, 2); err != nil {
		return err
	}
	for limit, query := range map[int]url.Values{
		1: {"limit": {"1"}}, biggestPage: {"limit": {strconv.Itoa(biggestPage)}}, defaultPage: nil,
	} {
		got, err := s.page(ctx, query)
		if err != nil {
			return fmt.Errorf("with limit %d: %w", limit, err)
		}
		if len(*got.Items) > limit {
			return fmt.Errorf("GET /vms: a page of %d VMs where the limit is %d", len(*got.Items), limit)
		}
	}
	return nil
}

func refusesLimit(ctx context.Context, s *subject) error {
	var problems []error
	for _, limit := range []string{"0", "501", "-1", "many"} {
		answer, err := s.wire.get(ctx, "/vms", url.Values{"limit": {limit}})
		if err != nil {
			return err
		}
		problems = append(problems, answer.want("GET /vms?limit="+limit, http.StatusBadRequest))
	}
	return join(problems...)
}

func refusesCursor(ctx context.Context, s *subject) error {
	answer, err := s.wire.get(ctx, "/vms", url.Values{"cursor": {"conformance.no-such-cursor"}})
	if err != nil {
		return err
	}
	return answer.want("GET /vms with a cursor that was never given out", http.StatusBadRequest)
}

// pagesUnderChange deletes a VM of a page that was read and one of a page to come,
// and makes one, when the first pages are read.
func pagesUnderChange(ctx context.Context, s *subject) error {
	ids, err := s.several(ctx, 8)
	if err != nil {
		return err
	}
	before, err := s.walk(ctx, biggestPage, nil)
	if err != nil {
		return err
	}
	stay := append([]string(nil), ids[2:6]...)
	turned := 0
	// Small enough that the VMs are on several pages, however many others there are.
	limit := 2
	change := func() error {
		turned += limit
		// Ours are the last: the first two of them must have been read.
		if turned < len(before)-len(ids)+limit || len(stay) != 4 {
			return nil
		}
		for _, id := range []string{ids[0], ids[1], ids[7]} {
			if err := s.remove(ctx, id); err != nil {
				return err
			}
		}
		made, err := s.several(ctx, 1)
		stay = append(stay, made...)
		return err
	}
	all, err := s.walk(ctx, limit, change)
	if err != nil {
		return err
	}
	if len(stay) == 4 {
		return errors.New("GET /vms?limit=2: the list ended before its last pages")
	}
	return wantOnce(all, stay)
}

func findsByKey(ctx context.Context, s *subject) error {
	request := s.order
	var key string
	request.Name, key = s.fresh()
	made, err := s.createAs(ctx, key, request)
	if err != nil {
		return err
	}
	if err := s.settled(ctx, time.Now()); err != nil {
		return err
	}
	found, err := s.page(ctx, url.Values{"key": {key}})
	if err != nil {
		return err
	}
	items := *found.Items
	switch {
	case len(items) != 1 || items[0].ID != made.ID:
		return errors.New("GET /vms?key=: the answer is not the one VM that the key made")
	case items[0].Key != key:
		return errors.New("GET /vms?key=: the VM does not carry its key")
	case *found.Next != "":
		return errors.New("GET /vms?key=: the answer has a next page")
	}
	if err := s.remove(ctx, made.ID); err != nil {
		return err
	}
	found, err = s.page(ctx, url.Values{"key": {key}})
	if err == nil && len(*found.Items) > 0 {
		err = errors.New("GET /vms?key=: a deleted VM is found")
	}
	return err
}

func findsNothing(ctx context.Context, s *subject) error {
	if _, err := s.several(ctx, 1); err != nil {
		return err
	}
	_, key := s.fresh()
	found, err := s.page(ctx, url.Values{"key": {key}})
	if err == nil && len(*found.Items) > 0 {
		err = errors.New("GET /vms?key=: a key that made no VM finds some")
	}
	return err
}
