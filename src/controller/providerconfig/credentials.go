package providerconfig

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	computev1 "github.com/example/vmoperator/src/api/compute/v1"
	"github.com/example/vmoperator/src/controller/index"
	"github.com/example/vmoperator/src/controller/providerconfig/decide"
	"github.com/example/vmoperator/src/provider/httpapi"
)

// credentials are what the referenced Secrets hold, or what is wrong with them.
type credentials struct {
	verdict decide.Credentials
	// secret and key are to blame, unless usable; problem says what for, without
	// showing any content.
	secret, key, problem string

	apiKey         httpapi.APIKey
	caCertificates []byte
	// objects are the Secrets that exist.
	objects []*corev1.Secret
}

// readCredentials reads each referenced Secret by its name, past the cache: it
// need not carry our label, and a key that was rotated counts at once.
func (r *Reconciler) readCredentials(ctx context.Context, config *computev1.ProviderConfig) (credentials, error) {
	read := credentials{verdict: decide.CredentialsUsable}
	for _, name := range index.SecretNames(config) {
		if len(validation.NameIsDNSSubdomain(name, false)) > 0 {
			// The schema lets in more than names. Asked for, some of them are no 404 but an
			// error that no repeat cures.
			read.blame(decide.CredentialsMissing, name, "", "is no name that a Secret can have: correct the reference")
			continue
		}
		secret := &corev1.Secret{}
		err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: config.Namespace, Name: name}, secret)
		switch {
		case apierrors.IsNotFound(err):
			read.blame(decide.CredentialsMissing, name, "", "does not exist in this namespace: create it")
		case err != nil:
			return credentials{}, fmt.Errorf("reading a credentials Secret: %w", err)
		default:
			read.objects = append(read.objects, secret)
		}
	}
	for _, secret := range read.objects {
		read.take(config, secret)
	}
	return read, nil
}

// blame keeps the first problem; a Secret that is missing comes before all.
func (c *credentials) blame(verdict decide.Credentials, secret, key, problem string) {
	if c.verdict == decide.CredentialsUsable {
		c.verdict, c.secret, c.key, c.problem = verdict, secret, key, problem
	}
}

func (c *credentials) take(config *computev1.ProviderConfig, secret *corev1.Secret) {
	if ref := config.Spec.SecretRef; ref != nil && ref.Name == secret.Name {
		c.apiKey = httpapi.APIKey(strings.TrimSpace(string(secret.Data[computev1.APIKeyKey])))
		if problem := problemOfKey(string(c.apiKey)); problem != "" {
			c.blame(decide.CredentialsInvalid, secret.Name, computev1.APIKeyKey, problem)
		}
	}
	if tls := config.Spec.TLS; tls != nil && tls.CASecretRef != nil && tls.CASecretRef.Name == secret.Name {
		c.caCertificates = secret.Data[computev1.CACertificateKey]
		if problem := problemOfCertificates(c.caCertificates); problem != "" {
			c.blame(decide.CredentialsInvalid, secret.Name, computev1.CACertificateKey, problem)
		}
	}
}

func problemOfKey(key string) string {
	if key == "" {
		return "is missing or empty"
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "holds white space or characters that an HTTP header cannot carry"
	}
	return ""
}

func problemOfCertificates(pem []byte) string {
	if len(pem) == 0 {
		return "is missing or empty"
	}
	if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		return "holds no PEM certificate"
	}
	return ""
}

// fingerprint changes when the content that is used does. The conversion to a
// string is needed: an APIKey marshals without what it holds.
func (c *credentials) fingerprint() fingerprint {
	return fingerprintOf(int(c.verdict), string(c.apiKey), c.caCertificates)
}

// unmarked are the Secrets that lack our label or finalizer. One that is being
// deleted already cannot get them.
func (c *credentials) unmarked() []*corev1.Secret {
	var unmarked []*corev1.Secret
	for _, secret := range c.objects {
		if secret.DeletionTimestamp.IsZero() && !marked(secret) {
			unmarked = append(unmarked, secret)
		}
	}
	return unmarked
}

func marked(secret *corev1.Secret) bool {
	return secret.Labels[computev1.WatchedLabel] == computev1.WatchedLabelValue &&
		controllerutil.ContainsFinalizer(secret, computev1.CredentialsFinalizer)
}

func refersTo(config *computev1.ProviderConfig, secret string) bool {
	return slices.Contains(index.SecretNames(config), secret)
}
