// Package access lets those read the metrics whom the cluster gives the right to.
//
// controller-runtime's filter of the same purpose brings in what the apiserver
// itself is made of, CEL and gRPC included: half of the operator's binary, and a
// third of the memory that it has before its first object.
package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// remembered is how many verdicts are kept, and for how long: a right that was
	// taken away counts as long, and somebody who guesses tokens fills no memory.
	remembered  = 256
	rememberFor = time.Minute
	// timeout bounds the two requests that a verdict takes.
	timeout = 10 * time.Second
)

// Filter returns a filter that answers 401 to whoever has no valid bearer token, and
// 403 to whoever has no right to the path. It needs the right to create TokenReviews
// and SubjectAccessReviews.
func Filter(config *rest.Config, httpClient *http.Client) (metricsserver.Filter, error) {
	tokens, err := authenticationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a client for TokenReviews: %w", err)
	}
	rights, err := authorizationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a client for SubjectAccessReviews: %w", err)
	}
	door := &door{tokens: tokens.TokenReviews(), rights: rights.SubjectAccessReviews(), verdicts: cache.NewLRUExpireCache(remembered)}
	return func(logger logr.Logger, next http.Handler) (http.Handler, error) {
		return door.before(logger, next), nil
	}, nil
}

// door lets through whom the apiserver says may.
type door struct {
	tokens   authenticationclient.TokenReviewInterface
	rights   authorizationclient.SubjectAccessReviewInterface
	verdicts *cache.LRUExpireCache
}

// question is what a verdict is about. It holds no token, for it is kept.
type question struct {
	token      [sha256.Size]byte
	verb, path string
}

func (d *door) before(logger logr.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := d.verdict(r)
		if err != nil {
			logger.Error(err, "cannot tell who may read the metrics")
		}
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// verdict is the status to answer a request with; 200 lets it through.
func (d *door) verdict(r *http.Request) (int, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return http.StatusUnauthorized, nil
	}
	asked := question{token: sha256.Sum256([]byte(token)), verb: strings.ToLower(r.Method), path: r.URL.Path}
	if known, found := d.verdicts.Get(asked); found {
		if status, isStatus := known.(int); isStatus {
			return status, nil
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	status, err := d.review(ctx, token, asked)
	if err != nil {
		return http.StatusInternalServerError, err
	}
	d.verdicts.Add(asked, status, rememberFor)
	return status, nil
}

// review asks the apiserver whose token it is, and what that user may do.
func (d *door) review(ctx context.Context, token string, asked question) (int, error) {
	who, err := d.tokens.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("reviewing a token: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := who.Status.User
	may, err := d.rights.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra(user.Extra),
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: asked.path, Verb: asked.verb},
	}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("reviewing the right to read metrics: %w", err)
	}
	if !may.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

func extra(given map[string]authenticationv1.ExtraValue) map[string]authorizationv1.ExtraValue {
	same := make(map[string]authorizationv1.ExtraValue, len(given))
	for name, values := range given {
		same[name] = authorizationv1.ExtraValue(values)
	}
	return same
}
