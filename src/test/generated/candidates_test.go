package generated

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"pgregory.net/rapid"
)

// candidate is a value to try.
type candidate struct {
	// what it is, for people.
	what string
	// json is its text; nil leaves the field out.
	json json.RawMessage
}

func raw(what, text string) candidate { return candidate{what, json.RawMessage(text)} }

func text(what, value string) candidate {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // a string always marshals
	}
	return candidate{what, encoded}
}

// oversize is longer than any field may be, and shorter than a request may be.
const oversize = 200_000

// candidatesOf are the values to try in a field.
func candidatesOf(schema *apiextensionsv1.JSONSchemaProps, seed int) []candidate {
	all := []candidate{
		{"absent", nil},
		raw("null", "null"), raw("true", "true"), raw("an empty list", "[]"), raw("an empty object", "{}"),
		raw("the number 1", "1"), text("the string 1", "1"), text("an empty string", ""),
		raw("a list of null", "[null]"), raw("an object of null", `{"name":null}`),
	}
	switch {
	case schema.XIntOrString:
		all = append(append(all, integers(schema)...), quantities()...)
	case schema.Type == "integer":
		all = append(all, integers(schema)...)
	case schema.Type == "string":
		all = append(all, strs(schema, seed)...)
	case schema.Type == "array":
		all = append(all, lists(schema, seed)...)
	}
	return all
}

func integers(schema *apiextensionsv1.JSONSchemaProps) []candidate {
	all := []candidate{
		raw("zero", "0"), raw("minus one", "-1"), raw("minus zero", "-0"), raw("a float that is whole", "2.0"), raw("an exponent", "2e0"),
		raw("a fraction", "1.5"), raw("a huge exponent", "1e300"), raw("beyond float64", "1e999"), raw("beyond int64", "99999999999999999999"),
	}
	for what, value := range map[string]int64{
		"the largest int32": math.MaxInt32, "beyond int32": math.MaxInt32 + 1, "the least int32": math.MinInt32,
		"the largest int64": math.MaxInt64, "the least int64": math.MinInt64,
	} {
		all = append(all, raw(what, fmt.Sprint(value)))
	}
	if schema.Minimum != nil {
		least := int64(*schema.Minimum)
		all = append(all, raw("the minimum", fmt.Sprint(least)), raw("one below the minimum", fmt.Sprint(least-1)))
	}
	if schema.Maximum != nil {
		most := int64(*schema.Maximum)
		all = append(all, raw("the maximum", fmt.Sprint(most)), raw("one above the maximum", fmt.Sprint(most+1)))
	}
	return all
}

func quantities() []candidate {
	var all []candidate
	for _, value := range []string{
		"4Gi", "4096Mi", "4194304Ki", "4294967296", "4294967296000m", "4.0Gi", "0.5Gi", "+4Gi", "-4Gi", "0", "0Gi", "04Gi", "4.Gi", ".5Gi", ".",
		"1Mi", "1023Ki", "1025Ki", "1Pi", "1024Ti", "1025Ti", "1Ei", "1E", "8E", "1e9", "1E9", "1e-3", "1e999999999", "1.048576M", "1048576000000u",
		"1048576000000000n", "1048576.0000000001", "4 Gi", " 4Gi", "4Gi ", "4gi", "4GiB", "4Gi\n", "Gi", "٤Gi", "4\u202eGi", "0x10", "1_000Mi", "NaN", "Inf",
		"99999999999999999999999999999P", strings.Repeat("0", 29) + "4Gi", strings.Repeat("0", 30) + "4Gi",
	} {
		all = append(all, text(fmt.Sprintf("the quantity %.40q", value), value))
	}
	return all
}

func durations() []candidate {
	var all []candidate
	for _, value := range []string{
		"1s", "1000ms", "999ms", "0s", "5m", "300s", "301s", "5m0.001s", "1h", "60m", "3600s", "3601s", "0.5m0.5m", "1m1m", "1.5m", "0.000001h", "01s", "1h0s",
		"-1s", "+1s", "1", "1d", "1w", "1us", "1µs", "1000000000ns", ".5s", "1.s", "1 s", " 1s", "1s\n", "1S", "1M", "PT1M", "0.0000001h",
		"1000000s", "999999h", "999999h999999h999999h999999h", "999999.999999h999999.999999h", "1e3s",
	} {
		all = append(all, text(fmt.Sprintf("the duration %q", value), value))
	}
	return all
}

// strs are strings: of every length that matters, of characters that take more
// than a byte or do not show, in the schema's pattern and beside it.
func strs(schema *apiextensionsv1.JSONSchemaProps, seed int) []candidate {
	all := []candidate{
		text("an oversized string", strings.Repeat("a", oversize)), text("a space", " "), text("a combining accent", "e\u0301"),
		text("right to left", "\u05d0\u202ea"), text("NUL", "a\x00b"), text("an emoji", "\U0001F468\u200d\U0001F469"), text("a line break", "a\r\nb"),
		raw("a lone surrogate", `"\ud800"`), raw("invalid UTF-8", "\"a\xff\xfe\""), text("a byte order mark", "\ufeffa"), text("capitals", "ABC"),
		text("a path", "../../etc/passwd"), text("markup", `<script>"'`), text("a format", "%s%n{{.}}"),
	}
	for _, bound := range []*int64{schema.MinLength, schema.MaxLength} {
		if bound == nil {
			continue
		}
		for _, length := range []int64{*bound - 1, *bound, *bound + 1} {
			if length >= 0 {
				all = append(all, text(fmt.Sprintf("%d letters", length), strings.Repeat("a", int(length))))
				all = append(all, text(fmt.Sprintf("%d characters of 4 bytes", length), strings.Repeat("\U0001F600", int(length))))
			}
		}
	}
	for _, value := range schema.Enum {
		all = append(all, candidate{"the enum's " + string(value.Raw), value.Raw}, raw("the enum's in lower case", strings.ToLower(string(value.Raw))))
	}
	if schema.Pattern != "" {
		matching := rapid.StringMatching(schema.Pattern)
		for i := range 4 {
			value := matching.Example(seed + i)
			all = append(all, text(fmt.Sprintf("in the pattern: %.40q", value), value), text(fmt.Sprintf("beside the pattern: %.40q", value+"!"), value+"!"))
		}
	}
	switch {
	case strings.Contains(schema.Pattern, "ms|s|m|h"):
		all = append(all, durations()...)
	case strings.Contains(schema.Description, "URL"):
		all = append(all, endpoints()...)
	}
	return all
}

func endpoints() []candidate {
	var all []candidate
	for _, value := range []string{
		"http://vms.example.com", "https://vms.example.com:8443/api/", "HTTPS://VMS.EXAMPLE.COM", "http://192.0.2.1", "http://[2001:db8::1]:80",
		"http://[::1%25eth0]", "http://a", "http://a/%2e%2e/b", "http://a/\u05d0", "http://\u05d0.example.com", "http://a/ b", "http://a:", "http://a:99999",
		"http://a:port", "http://", "http:///a", "//a", "a", "ftp://a", "http://u:p@a", "http://a?q", "http://a#f", "http://a?", "javascript:alert(1)",
		"http:a", "http://a\\b", "http://[::1", "http://0x7f000001", "http://a%00b", "file:///etc/passwd", "http://a/" + strings.Repeat("b", 2039),
	} {
		all = append(all, text(fmt.Sprintf("the URL %.40q", value), value))
	}
	return all
}

// lists have as many members as the bounds allow, and one more or less. Each is a
// port of its own.
func lists(schema *apiextensionsv1.JSONSchemaProps, seed int) []candidate {
	var all []candidate
	for _, bound := range []*int64{schema.MinItems, schema.MaxItems} {
		if bound == nil {
			continue
		}
		for _, length := range []int64{*bound - 1, *bound, *bound + 1} {
			all = append(all, raw(fmt.Sprintf("%d members", length), members(length, 1000+seed%1000, 1)))
		}
	}
	return append(
		all,
		raw("members of one name", `[{"name":"a","port":1},{"name":"a","port":2}]`), raw("members of one port", members(2, 1000, 0)),
		raw("one port of two protocols", `[{"name":"a","port":53,"protocol":"UDP"},{"name":"b","port":53,"protocol":"TCP"}]`),
	)
}

func members(n int64, first, step int) string {
	list := make([]string, 0, max(n, 0))
	for i := range n {
		list = append(list, fmt.Sprintf(`{"name":"port-%d","port":%d}`, i, first+int(i)*step))
	}
	return "[" + strings.Join(list, ",") + "]"
}
