package command

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/example/vmoperator/src/provider"
	"github.com/example/vmoperator/src/provider/conformance"
)

// document prints a run when it is over, for programs to read.
type document struct {
	stdout, stderr io.Writer
	write          func(io.Writer, *conformance.Report) error
}

// Discovered implements conformance.Observer.
func (*document) Discovered(provider.Capabilities) {}

// Started implements conformance.Observer.
func (*document) Started(conformance.Check) {}

// Finished implements conformance.Observer.
func (*document) Finished(conformance.Result) {}

func (d *document) finish(report conformance.Report) error {
	if err := d.write(d.stdout, &report); err != nil {
		return err
	}
	for _, left := range report.Left {
		fmt.Fprintf(d.stderr, "left: %s\n", left)
	}
	fmt.Fprintln(d.stderr, summary(&report))
	return nil
}

// jsonReport is what --output json prints.
type jsonReport struct {
	Endpoint     string      `json:"endpoint"`
	Identity     string      `json:"identity"`
	Capabilities []string    `json:"capabilities"`
	Passed       int         `json:"passed"`
	Failed       int         `json:"failed"`
	Skipped      int         `json:"skipped"`
	Checks       []jsonCheck `json:"checks"`
	// Left names what may still be at the provider.
	Left []string `json:"left"`
}

type jsonCheck struct {
	Name    string              `json:"name"`
	Result  conformance.Verdict `json:"result"`
	Problem string              `json:"problem,omitempty"`
	Wants   string              `json:"wants"`
	Where   string              `json:"where"`
	Seconds float64             `json:"seconds"`
}

func writeJSON(out io.Writer, report *conformance.Report) error {
	shown := jsonReport{
		Endpoint: report.Endpoint, Identity: report.Capabilities.Identity,
		// Lists are lists, also when they are empty.
		Capabilities: append([]string{}, report.Capabilities.Offered...), Left: append([]string{}, report.Left...),
		Passed: report.Count(conformance.Passed), Failed: report.Count(conformance.Failed), Skipped: report.Count(conformance.Skipped),
		Checks: make([]jsonCheck, 0, len(report.Results)),
	}
	for _, result := range report.Results {
		shown.Checks = append(shown.Checks, jsonCheck{
			Name: result.Check.Name, Result: result.Verdict, Problem: result.Problem,
			Wants: result.Check.Wants, Where: result.Check.Where, Seconds: seconds(result.Took),
		})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(shown)
}

// seconds has as many digits as a person reads.
func seconds(duration time.Duration) float64 { return duration.Round(time.Millisecond).Seconds() }

// The elements of JUnit's format that CI systems read.
type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     float64     `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
	Left     string      `xml:"system-err,omitempty"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    float64       `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(out io.Writer, report *conformance.Report) error {
	suite := junitSuite{
		Name: "conformance", Tests: len(report.Results), Failures: report.Count(conformance.Failed),
		Skipped: report.Count(conformance.Skipped), Left: strings.Join(report.Left, "\n"),
	}
	var total time.Duration
	for _, result := range report.Results {
		total += result.Took
		suite.Cases = append(suite.Cases, caseOf(result))
	}
	suite.Time = seconds(total)
	text, err := xml.MarshalIndent(junitSuites{Suite: suite}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing JUnit's XML: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s%s\n", xml.Header, text)
	return err
}

func caseOf(result conformance.Result) junitCase {
	group, check, _ := strings.Cut(result.Check.Name, "/")
	shown := junitCase{Class: "conformance." + group, Name: check, Time: seconds(result.Took)}
	switch result.Verdict {
	case conformance.Failed:
		shown.Failure = &junitMessage{result.Problem, "wanted: " + result.Check.Wants + "\nsee: " + result.Check.Where}
	case conformance.Skipped:
		shown.Skipped = &junitMessage{Message: result.Problem}
	case conformance.Passed:
	}
	return shown
}
