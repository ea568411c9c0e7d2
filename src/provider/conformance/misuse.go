package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

const (
	// oversize is more than a client may send.
	oversize = 2 << 20
	// burst is how many calls at once are tried to provoke a 429.
	burst = 50
)

func misuseChecks() []Check {
	return []Check{
		{
			Name:  "misuse/malformed-json",
			Wants: "a body that is no JSON is refused, with 400",
			Where: openapi + "/components/responses/Malformed",
			needs: []need{needHTTP}, run: refusesMalformed,
		},
		{
			Name:  "misuse/media-type",
			Wants: "a body of another media type is read or refused, and no internal error",
			Where: openapi + "/components/responses/Malformed",
			needs: []need{needHTTP}, run: standsMediaType,
		},
		{
			Name:  "misuse/oversize",
			Wants: "a body of more than 1 MiB is refused, with 413, or read; it is no internal error",
			Where: openapi + "/components/responses/TooLarge",
			needs: []need{needHTTP}, run: standsOversize,
		},
		{
			Name:  "misuse/method",
			Wants: "a method that an endpoint does not have is refused, with 405",
			Where: openapi + "/components/responses/NotOffered",
			needs: []need{needHTTP}, run: refusesMethod,
		},
		{
			Name:  "misuse/bad-values",
			Wants: "an order that can never succeed is refused with 422, or 400, and makes no VM",
			Where: openapi + "/components/responses/Unprocessable",
			needs: []need{needHTTP, needDiscovery}, run: refusesValues,
		},
		{
			Name:  "misuse/problem-details",
			Wants: "errors are problem details (RFC 9457): application/problem+json with type, title, status and detail",
			Where: openapi + "/components/schemas/Problem",
			needs: []need{needHTTP, needDiscovery}, run: describesProblems,
		},
		{
			Name:  "misuse/retry-after",
			Wants: "429 and 503 carry Retry-After",
			Where: openapi + "/components/responses/Throttled",
			needs: []need{needHTTP}, run: saysWhen,
		},
	}
}

// sendWrong posts a body of which no VM may come.
func (s *subject) sendWrong(ctx context.Context, body []byte) (answer, error) {
	_, key := s.fresh()
	return s.send(ctx, key, body, nil)
}

func refusesMalformed(ctx context.Context, s *subject) error {
	answer, err := s.sendWrong(ctx, []byte(`{"image": "`))
	if err != nil {
		return err
	}
	return answer.wantRefusal("POST /vms with a body that is no JSON")
}

func standsMediaType(ctx context.Context, s *subject) error {
	name, key := s.fresh()
	body, err := s.body(name, nil)
	if err != nil {
		return err
	}
	answer, err := s.send(ctx, key, body, func(r *request) { r.media = "text/plain" })
	if err != nil {
		return err
	}
	if !answer.succeeded() {
		return answer.wantRefusal("POST /vms as text/plain")
	}
	return nil
}

func standsOversize(ctx context.Context, s *subject) error {
	answer, err := s.orderWith(ctx, map[string]any{"conformanceUnknown": strings.Repeat("a", oversize)})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && !answer.succeeded():
		err = answer.wantRefusal("POST /vms with a body of 2 MiB")
	default:
		// A server that refuses before it has read everything cuts the connection.
		err = nil
	}
	return join(err, s.alive(ctx))
}

// alive is an error if the provider does not answer any more.
func (s *subject) alive(ctx context.Context) error {
	answer, err := s.wire.get(ctx, "/vms/"+s.unknownID(), nil)
	if err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	return answer.want("afterwards, GET of an unknown id", http.StatusNotFound)
}

func refusesMethod(ctx context.Context, s *subject) error {
	name, key := s.fresh()
	body, err := s.body(name, nil)
	if err != nil {
		return err
	}
	answer, err := s.send(ctx, key, body, func(r *request) { r.method = http.MethodPut })
	if err != nil || answer.status == http.StatusNotImplemented {
		return err
	}
	return answer.wantRefusal("PUT /vms")
}

func refusesValues(ctx context.Context, s *subject) error {
	var problems []error
	for what, fields := range map[string]map[string]any{
		"without image":              {"image": nil},
		"with an empty image":        {"image": ""},
		"with cpu 0":                 {"cpu": 0},
		"with cpu in words":          {"cpu": "two"},
		"with memory in words":       {"memory": "much"},
		"with less memory than none": {"memory": "-1Gi"},
	} {
		answer, err := s.orderWith(ctx, fields)
		if err != nil {
			return err
		}
		problems = append(problems, answer.want("POST /vms "+what, http.StatusUnprocessableEntity, http.StatusBadRequest))
	}
	answer, err := s.sendWrong(ctx, []byte(`[]`))
	if err != nil {
		return err
	}
	return join(append(problems, answer.want("POST /vms with an array", http.StatusUnprocessableEntity, http.StatusBadRequest))...)
}

func describesProblems(ctx context.Context, s *subject) error {
	malformed, err := s.sendWrong(ctx, []byte(`{"image": "`))
	if err != nil {
		return err
	}
	refused, err := s.orderWith(ctx, map[string]any{"image": nil})
	if err != nil {
		return err
	}
	return join(isProblem("the answer to a body that is no JSON", malformed), isProblem("the answer to an order without image", refused))
}

func isProblem(what string, answer answer) error {
	var problem struct {
		Type   *string `json:"type"`
		Title  *string `json:"title"`
		Status *int    `json:"status"`
		Detail *string `json:"detail"`
	}
	err := json.Unmarshal(answer.body, &problem)
	switch {
	case answer.succeeded():
		return fmt.Errorf("%s: status %d, which is no error", what, answer.status)
	case answer.media() != "application/problem+json":
		return fmt.Errorf("%s: the media type is not application/problem+json", what)
	case err != nil:
		return fmt.Errorf("%s: the body is not a JSON object, or a field has another type", what)
	case problem.Type == nil || problem.Title == nil || problem.Status == nil || problem.Detail == nil:
		return fmt.Errorf("%s: type, title, status or detail is missing", what)
	case *problem.Status != answer.status:
		return fmt.Errorf("%s: status in the body is not the one of the answer", what)
	}
	return nil
}

// saysWhen provokes a 429 with reads, which harm nobody.
func saysWhen(ctx context.Context, s *subject) error {
	var calls sync.WaitGroup
	path := "/vms/" + s.unknownID()
	answers := make([]answer, burst)
	for i := range burst {
		calls.Go(func() {
			// A call without an answer tells nothing about Retry-After.
			answers[i], _ = s.wire.do(ctx, request{method: http.MethodGet, path: path, once: true})
		})
	}
	calls.Wait()
	throttled := false
	for _, each := range answers {
		if each.status != http.StatusTooManyRequests && each.status != http.StatusServiceUnavailable {
			continue
		}
		throttled = true
		if each.header.Get("Retry-After") == "" {
			return fmt.Errorf("status %d has no Retry-After", each.status)
		}
	}
	if !throttled {
		return skip(fmt.Sprintf("%d calls at once were not throttled", burst))
	}
	return nil
}
