package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// maxRetryAfter bounds how long a provider can make us wait: a header with a
	// wrong unit or a wrong year must not stop all its VMs for a day.
	maxRetryAfter = 5 * time.Minute
	// defaultRetryAfter is for a 429 that does not say.
	defaultRetryAfter = time.Second
)

// retryAfter is how long a Retry-After header asks to wait: seconds or a date. It
// is 0 if the header is missing, in the past or makes no sense, and
// maxRetryAfter at most.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if isDigits(text) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(text)
	if err != nil || !date.After(now) {
		return 0
	}
	return min(date.Sub(now), maxRetryAfter)
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
