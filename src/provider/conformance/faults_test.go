package conformance_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/fake"
)

// soon is how long a kit waits for what never comes.
const soon = 10 * time.Millisecond

// wrongServers are those that break one promise each, by the name of its check.
// Where a fault would break the promises of others too, it meets the VMs of one
// check only.
var wrongServers = map[string]*wrong{
	"discovery/capabilities":   {fault: with(isPath("/capabilities"), edits(without("settleSeconds")))},
	"discovery/identity":       {fault: changeIdentity()},
	"minimum/create":           {fault: replaceStatus(http.MethodPost, http.StatusCreated, http.StatusAccepted)},
	"minimum/safe-id":          {fault: with(postOf("safe-id"), edits(set("id", "vm 1")))},
	"minimum/own-id":           {fault: with(postOf("own-id"), giveOneID())},
	"minimum/read":             {fault: with((*exchange).reads, edits(set("image", "another")))},
	"minimum/read-after-write": {options: func(o *fake.Options) { o.HiddenReads = 3 }},
	"minimum/fields":           {fault: with((*exchange).reads, edits(set("addresses", []string{"not-an-address"})))},
	"minimum/memory":           {fault: with(orders(`Mi"`), answers(http.StatusUnprocessableEntity))},
	"minimum/unknown-fields":   {fault: with(orders("conformanceUnknown"), answers(http.StatusUnprocessableEntity))},
	"minimum/running":          {options: func(o *fake.Options) { o.Phase = provider.PhaseProvisioning }, patience: soon},
	"minimum/delete":           {fault: replaceStatus(http.MethodDelete, http.StatusNoContent, http.StatusOK)},
	"minimum/deleting":         {options: func(o *fake.Options) { o.SlowDelete = true }, fault: hideDeletion},
	"minimum/repeated-delete":  {fault: failOnGone},
	"minimum/unknown-id":       {fault: with(allOf((*exchange).reads, about("unknown-id")), answers(http.StatusBadRequest))},
	"misuse/malformed-json":    {fault: with(endsAsString, answers(http.StatusInternalServerError))},
	"misuse/media-type":        {fault: with(isPlainText, answers(http.StatusInternalServerError))},
	"misuse/oversize":          {fault: with(isOversize, answers(http.StatusInternalServerError))},
	"misuse/method":            {fault: with(isMethod(http.MethodPut), answers(http.StatusOK))},
	"misuse/bad-values":        {fault: with(orders(`"cpu":0`), asks(set("cpu", 1)))},
	"misuse/problem-details":   {fault: replaceMedia("application/problem+json", "application/json")},
	"misuse/retry-after":       {fault: with(about("retry-after"), answers(http.StatusTooManyRequests))},
	"auth/without-key":         {fault: with(bears(""), allows), outside: true},
	"auth/wrong-key":           {fault: with(bears("Bearer "), allows), outside: true},
	"auth/challenge":           {fault: dropChallenge, outside: true},
	"idempotency/same-key":     {fault: with(postOf("same-key"), dropsKey)},
	"idempotency/same-json":    {fault: with(postOf("same-json"), compareBytes())},
	"idempotency/at-once":      {fault: with(postOf("at-once"), dropsKey)},
	"idempotency/lost-answer":  {fault: with(postOf("lost-answer"), once(dropsKey))},
	"idempotency/other-body":   {fault: replaceStatus(http.MethodPost, http.StatusUnprocessableEntity, http.StatusConflict, "other-body")},
	"idempotency/spent-key":    {fault: replaceStatus(http.MethodPost, http.StatusGone, http.StatusNotFound)},
	"list/every-vm":            {fault: with((*exchange).lists, doubleVMs)},
	"list/limit":               {fault: with(asksFor("limit", "1"), queries("limit", "2"))},
	"list/bad-limit":           {fault: with(asksFor("limit", "0"), queries("limit", "1"))},
	"list/bad-cursor":          {fault: with(asksFor("cursor", "conformance.no-such-cursor"), queries("cursor", ""))},
	"list/pages-under-change":  {fault: with((*exchange).lists, countPages)},
	"list/find-by-key":         {fault: with(about("find-by-key"), hideKeys)},
	"list/unknown-key":         {fault: with(allOf(isMethod(http.MethodGet), about("unknown-key")), queries("key", ""))},
	"owner/labels":             {fault: with((*exchange).lists, hideLabels)},
	"resize/both":              {fault: with(isMethod(http.MethodPatch), asks(without("memory"))), patience: soon},
	"resize/one":               {fault: with(isMethod(http.MethodPatch), asks(setDefault("memory", "1Gi"))), patience: soon},
	"resize/unknown-id":        {fault: replaceStatus(http.MethodPatch, http.StatusNotFound, http.StatusConflict)},
}

// condition says which calls a fault meets.
type condition func(*exchange) bool

// with meets some calls with a fault, and lets the others through.
func with(meets condition, then fault) fault {
	return func(e *exchange) {
		if meets(e) {
			then(e)
			return
		}
		e.pass()
	}
}

func allOf(conditions ...condition) condition {
	return func(e *exchange) bool {
		for _, each := range conditions {
			if !each(e) {
				return false
			}
		}
		return true
	}
}

func isMethod(method string) condition { return func(e *exchange) bool { return e.Method == method } }

func isPath(path string) condition { return func(e *exchange) bool { return e.URL.Path == path } }

func about(check string) condition { return func(e *exchange) bool { return e.of(check) } }

func postOf(check string) condition { return allOf((*exchange).creates, about(check)) }

// orders reports whether a call orders a VM in words that contain these.
func orders(words string) condition {
	return func(e *exchange) bool { return e.creates() && bytes.Contains(e.body, []byte(words)) }
}

func asksFor(parameter, value string) condition {
	return func(e *exchange) bool { return e.lists() && e.URL.Query().Get(parameter) == value }
}

func endsAsString(e *exchange) bool {
	return e.creates() && bytes.HasSuffix(e.body, []byte(`"image": "`))
}

func isPlainText(e *exchange) bool { return e.Header.Get("Content-Type") == "text/plain" }

func isOversize(e *exchange) bool { return len(e.body) > 1<<20 }

// bears reports whether a read has credentials that begin so and are not right.
func bears(credentials string) condition {
	return func(e *exchange) bool {
		sent := e.Header.Get("Authorization")
		return e.reads() && sent != "Bearer "+apiKey && strings.HasPrefix(sent, credentials) && (credentials == "") == (sent == "")
	}
}

type change func(map[string]any)

func set(field string, value any) change {
	return func(document map[string]any) { document[field] = value }
}

func without(field string) change { return func(document map[string]any) { delete(document, field) } }

func setDefault(field string, value any) change {
	return func(document map[string]any) {
		if _, isSet := document[field]; !isSet {
			document[field] = value
		}
	}
}

// edits changes the answer.
func edits(change change) fault {
	return func(e *exchange) {
		e.pass()
		e.edit(change)
	}
}

// asks changes the call.
func asks(change change) fault {
	return func(e *exchange) {
		e.ask(change)
		e.pass()
	}
}

func queries(parameter, value string) fault {
	return func(e *exchange) {
		e.query(parameter, value)
		e.pass()
	}
}

func answers(status int) fault { return func(e *exchange) { e.refuse(status) } }

// allows lets a call through as if its credentials were right.
func allows(e *exchange) {
	e.Header.Set("Authorization", "Bearer "+apiKey)
	e.pass()
}

func dropsKey(e *exchange) {
	e.Header.Del("Idempotency-Key")
	e.pass()
}

// once is a fault that meets the first call only.
func once(first fault) fault {
	met := false
	return func(e *exchange) {
		if met {
			e.pass()
			return
		}
		met = true
		first(e)
	}
}

// replaceStatus answers calls of a method with another status; with a name, only
// those about the VMs of that check.
func replaceStatus(method string, from, to int, checks ...string) fault {
	return func(e *exchange) {
		e.pass()
		for _, check := range checks {
			if !e.of(check) {
				return
			}
		}
		if e.Method == method && e.answer.Code == from {
			e.answer.Code = to
		}
	}
}

func replaceMedia(from, to string) fault {
	return func(e *exchange) {
		e.pass()
		if e.answer.Header().Get("Content-Type") == from {
			e.answer.Header().Set("Content-Type", to)
		}
	}
}

func dropChallenge(e *exchange) {
	e.pass()
	e.answer.Header().Del("WWW-Authenticate")
}

func changeIdentity() fault {
	count := 0
	return with(isPath("/capabilities"), func(e *exchange) {
		count++
		edits(set("identity", fmt.Sprintf("identity-%d", count)))(e)
	})
}

// giveOneID shows every VM under the id of the first.
func giveOneID() fault {
	first := ""
	return func(e *exchange) {
		e.pass()
		e.edit(func(vm map[string]any) {
			if id, isText := vm["id"].(string); isText && first == "" {
				first = id
			}
			vm["id"] = first
		})
	}
}

// hideDeletion shows a VM that is being deleted as Running once, and finishes.
func hideDeletion(e *exchange) {
	e.pass()
	if !e.reads() {
		return
	}
	e.edit(func(vm map[string]any) {
		if vm["phase"] == string(provider.PhaseDeleting) {
			vm["phase"] = provider.PhaseRunning
			e.provider.Finish()
		}
	})
}

// failOnGone is in trouble when a VM is deleted that it once had.
func failOnGone(e *exchange) {
	e.pass()
	if e.Method == http.MethodDelete && e.answer.Code == http.StatusNotFound && !strings.Contains(e.URL.Path, "conformance") {
		e.refuse(http.StatusInternalServerError)
	}
}

// compareBytes takes a body for another one if it is written otherwise.
func compareBytes() fault {
	bodies := map[string][]byte{}
	return func(e *exchange) {
		key := e.Header.Get("Idempotency-Key")
		if first, isKnown := bodies[key]; isKnown && !bytes.Equal(first, e.body) {
			e.refuse(http.StatusUnprocessableEntity)
			return
		}
		bodies[key] = e.body
		e.pass()
	}
}

// doubleVMs shows some VMs twice.
func doubleVMs(e *exchange) {
	e.pass()
	e.items(func(items []any) []any {
		for _, item := range items {
			if strings.Contains(fmt.Sprint(item), "-every-vm-") {
				items = append(items, item)
			}
		}
		return items
	})
}

// countPages lets a cursor be the number of VMs before it: a deletion moves all
// that come after.
func countPages(e *exchange) {
	const prefix = "skip-"
	limit, err := strconv.Atoi(e.URL.Query().Get("limit"))
	cursor := e.URL.Query().Get("cursor")
	if err != nil || limit < 1 || limit > 500 || cursor != "" && !strings.HasPrefix(cursor, prefix) {
		e.pass()
		return
	}
	// The first page has no cursor, and begins at 0.
	from, _ := strconv.Atoi(strings.TrimPrefix(cursor, prefix))
	e.query("cursor", "")
	e.query("limit", "500")
	e.pass()
	e.edit(func(page map[string]any) {
		items := page["items"].([]any)
		from = min(from, len(items))
		to := min(from+limit, len(items))
		page["items"], page["next"] = items[from:to], ""
		if to < len(items) {
			page["next"] = prefix + strconv.Itoa(to)
		}
	})
}

func hideKeys(e *exchange) {
	e.pass()
	e.items(func(items []any) []any { return eachWithout(items, "key") })
}

func hideLabels(e *exchange) {
	e.pass()
	e.items(func(items []any) []any { return eachWithout(items, "labels") })
}

func eachWithout(items []any, field string) []any {
	for _, item := range items {
		delete(item.(map[string]any), field)
	}
	return items
}
