package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

func authChecks() []Check {
	return []Check{
		{
			Name:  "auth/without-key",
			Wants: "a call without the API key is refused with 401, and has no effect",
			Where: openapi + "/components/responses/Unauthorized",
			needs: []need{needHTTP, needKey}, run: refusesNoKey,
		},
		{
			Name:  "auth/wrong-key",
			Wants: "a call with another key is refused with 401, and has no effect",
			Where: openapi + "/components/responses/Unauthorized",
			needs: []need{needHTTP, needKey}, run: refusesWrongKey,
		},
		{
			Name:  "auth/challenge",
			Wants: "a 401 says how to authenticate: WWW-Authenticate: Bearer",
			Where: openapi + "/components/headers/Challenge",
			needs: []need{needHTTP, needKey, needDiscovery}, run: challenges,
		},
	}
}

func refusesNoKey(ctx context.Context, s *subject) error { return s.refuses(ctx, "without a key", "") }

func refusesWrongKey(ctx context.Context, s *subject) error {
	// As long as the right one: only its content can give it away.
	return s.refuses(ctx, "with a wrong key", strings.Map(another, string(s.apiKey)))
}

func another(r rune) rune {
	if r == 'x' {
		return 'y'
	}
	return 'x'
}

// refuses makes each call with other credentials than the right ones.
func (s *subject) refuses(ctx context.Context, how, bearer string) error {
	made, err := s.create(ctx)
	if err != nil {
		return err
	}
	path := "/vms/" + made.ID
	calls := []request{
		{method: http.MethodGet, path: path},
		{method: http.MethodDelete, path: path},
	}
	if s.capabilities.Has(string(needList)) {
		calls = append(calls, request{method: http.MethodGet, path: "/vms"})
	}
	if s.capabilities.Has(string(needResize)) {
		calls = append(calls, request{method: http.MethodPatch, path: path, body: []byte(`{}`)})
	}
	var problems []error
	for _, call := range calls {
		call.bearer = &bearer
		answer, err := s.wire.do(ctx, call)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%s %s %s", call.method, strings.Replace(call.path, made.ID, "{id}", 1), how)
		problems = append(problems, answer.want(what, http.StatusUnauthorized, http.StatusForbidden))
	}
	name, key := s.fresh()
	body, err := s.body(name, nil)
	if err != nil {
		return err
	}
	answer, err := s.send(ctx, key, body, func(r *request) { r.bearer = &bearer })
	if err != nil {
		return err
	}
	problems = append(problems, answer.want("POST /vms "+how, http.StatusUnauthorized, http.StatusForbidden))
	if _, err := s.client.Get(ctx, made.ID); err != nil {
		problems = append(problems, errors.New("the refused DELETE had an effect"))
	}
	return join(problems...)
}

func challenges(ctx context.Context, s *subject) error {
	none := ""
	answer, err := s.wire.do(ctx, request{method: http.MethodGet, path: "/vms/" + s.unknownID(), bearer: &none})
	if err != nil {
		return err
	}
	scheme, _, _ := strings.Cut(answer.header.Get("WWW-Authenticate"), " ")
	if answer.status == http.StatusUnauthorized && !strings.EqualFold(scheme, "Bearer") {
		return errors.New("status 401 has no WWW-Authenticate: Bearer")
	}
	return nil
}
