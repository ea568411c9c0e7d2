package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/example/vmoperator/src/metrics"
)

// constants are the string constants of a file, by their names. Reflection does
// not show constants, and the file is what a reader would look into.
func constants(t *testing.T, path string) map[string]string {
	t.Helper()
	found := constantsIn(source(t, path))
	if len(found) == 0 {
		t.Fatalf("%s has no constants", path)
	}
	return found
}

func constantsIn(file *ast.File) map[string]string {
	found := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, isSpec := node.(*ast.ValueSpec)
		if !isSpec {
			return true
		}
		for i, name := range spec.Names {
			if i < len(spec.Values) {
				if value, isText := text(spec.Values[i]); isText {
					found[name.Name] = value
				}
			}
		}
		return true
	})
	return found
}

// Files that bind flags.
const (
	managerFlags     = "src/cmd/manager/options.go"
	conformanceFlags = "src/provider/conformance/command/flags.go"
	smokeTestFlags   = "src/smoketest/command.go"
	guardFlags       = "src/uninstallguard/command.go"
)

// flags are the flags that a file binds.
func flags(t *testing.T, path string) []string {
	t.Helper()
	var found []string
	ast.Inspect(source(t, path), func(node ast.Node) bool {
		call, isCall := node.(*ast.CallExpr)
		if !isCall {
			return true
		}
		if name, binds := bound(call); binds {
			found = append(found, name)
		}
		return true
	})
	if len(found) == 0 {
		t.Fatalf("%s binds no flags", path)
	}
	return found
}

// bound is the name of the flag that a call such as flags.BoolVar binds.
func bound(call *ast.CallExpr) (string, bool) {
	method, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod {
		return "", false
	}
	receiver, isName := method.X.(*ast.Ident)
	if !isName || receiver.Name != "flags" {
		return "", false
	}
	index := 1
	if method.Sel.Name == "Func" {
		index = 0
	} else if !strings.HasSuffix(method.Sel.Name, "Var") {
		return "", false
	}
	return text(call.Args[index])
}

func source(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func text(expression ast.Expr) (string, bool) {
	literal, isLiteral := expression.(*ast.BasicLit)
	if !isLiteral || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

// names is a Registerer that keeps the names of what is registered: collectors
// without a series yet are not to be seen otherwise.
type names struct{ found map[string]bool }

var fullName = regexp.MustCompile(`fqName: "([^"]+)"`)

func (n names) Register(collector prometheus.Collector) error {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		collector.Describe(descriptions)
		close(descriptions)
	}()
	for description := range descriptions {
		n.found[fullName.FindStringSubmatch(description.String())[1]] = true
	}
	return nil
}

func (names) MustRegister(...prometheus.Collector) {}

func (names) Unregister(prometheus.Collector) bool { return false }

func metricNames(t *testing.T) map[string]bool {
	t.Helper()
	all := names{found: map[string]bool{}}
	if err := metrics.Register(all); err != nil {
		t.Fatal(err)
	}
	return all.found
}
