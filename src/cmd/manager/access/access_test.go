package access

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// apiserver knows one reader, "reader", and one user without rights, "stranger", by
// tokens of the same names.
type apiserver struct {
	reviews atomic.Int64
	down    atomic.Bool
	asked   atomic.Pointer[authorizationv1.SubjectAccessReviewSpec]
}

func (a *apiserver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.reviews.Add(1)
	if a.down.Load() {
		http.Error(w, "no", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/apis/authentication.k8s.io/v1/tokenreviews":
		var review authenticationv1.TokenReview
		err := json.NewDecoder(r.Body).Decode(&review)
		name := review.Spec.Token
		review.Status.Authenticated = name == "reader" || name == "stranger"
		review.Status.User = authenticationv1.UserInfo{
			Username: name, UID: "1", Groups: []string{"people"}, Extra: map[string]authenticationv1.ExtraValue{"pod": {"a"}},
		}
		answer(w, &review, err)
	case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
		var review authorizationv1.SubjectAccessReview
		err := json.NewDecoder(r.Body).Decode(&review)
		a.asked.Store(review.Spec.DeepCopy())
		review.Status.Allowed = review.Spec.User == "reader" && review.Spec.NonResourceAttributes.Path == "/metrics"
		answer(w, &review, err)
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, review any, err error) {
	if err = errors.Join(err, json.NewEncoder(w).Encode(review)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// guarded is a handler behind the filter, and the apiserver that it asks.
func guarded(t *testing.T) (http.Handler, *apiserver) {
	t.Helper()
	reviewer := &apiserver{}
	server := httptest.NewServer(reviewer)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	filter, err := Filter(config, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	handler, err := filter(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	return handler, reviewer
}

func ask(handler http.Handler, path, authorization string) int {
	request := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, http.NoBody)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Code
}

func TestOnlyWhoHasTheRightIsLetThrough(t *testing.T) {
	for authorization, want := range map[string]int{
		"":                http.StatusUnauthorized,
		"Bearer":          http.StatusUnauthorized,
		"Bearer  ":        http.StatusUnauthorized,
		"Basic reader":    http.StatusUnauthorized,
		"Bearer nobody":   http.StatusUnauthorized,
		"Bearer stranger": http.StatusForbidden,
		"Bearer reader":   http.StatusOK,
		"bearer reader":   http.StatusOK,
	} {
		t.Run(authorization, func(t *testing.T) {
			handler, _ := guarded(t)
			if got := ask(handler, "/metrics", authorization); got != want {
				t.Errorf("answered %d, want %d", got, want)
			}
		})
	}
}

func TestTheApiserverIsToldWhoWantsWhat(t *testing.T) {
	handler, reviewer := guarded(t)
	if got := ask(handler, "/metrics/other", "Bearer reader"); got != http.StatusForbidden {
		t.Errorf("answered %d", got)
	}
	want := &authorizationv1.SubjectAccessReviewSpec{
		User: "reader", UID: "1", Groups: []string{"people"}, Extra: map[string]authorizationv1.ExtraValue{"pod": {"a"}},
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics/other", Verb: "get"},
	}
	if diff := cmp.Diff(want, reviewer.asked.Load()); diff != "" {
		t.Error(diff)
	}
}

func TestAVerdictIsRememberedForItsTokenAndPathAlone(t *testing.T) {
	handler, reviewer := guarded(t)
	for range 3 {
		if got := ask(handler, "/metrics", "Bearer reader"); got != http.StatusOK {
			t.Fatalf("answered %d", got)
		}
	}
	if got := reviewer.reviews.Load(); got != 2 {
		t.Errorf("%d reviews, want one of the token and one of the right", got)
	}
	if got := ask(handler, "/other", "Bearer reader"); got != http.StatusForbidden {
		t.Errorf("another path is answered with %d", got)
	}
	if got := ask(handler, "/metrics", "Bearer stranger"); got != http.StatusForbidden {
		t.Errorf("another token is answered with %d", got)
	}
}

func TestNobodyIsLetThroughWhileTheApiserverFails(t *testing.T) {
	handler, reviewer := guarded(t)
	reviewer.down.Store(true)
	if got := ask(handler, "/metrics", "Bearer reader"); got != http.StatusInternalServerError {
		t.Errorf("answered %d", got)
	}
	reviewer.down.Store(false)
	if got := ask(handler, "/metrics", "Bearer reader"); got != http.StatusOK {
		t.Errorf("a failure is remembered as an answer: %d", got)
	}
}
