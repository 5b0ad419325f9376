// Package esshadow_test holds the house rules that a compiler does not: who may
// import whom, what no room may contain, and how large things may grow. The
// rules are explained in docs/architecture.md.
package esshadow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/esshadow/esshadow/"

type goFile struct {
	path  string // slash-separated, from the root
	dir   string
	test  bool
	ast   *ast.File
	fset  *token.FileSet
	lines int
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && p != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(p)
		files = append(files, goFile{slash, path.Dir(slash), strings.HasSuffix(p, "_test.go"), f, fset, fset.File(f.Pos()).LineCount()})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found %d Go files only", len(files))
	}
	return files
}

func (f goFile) imports() []string {
	var out []string
	for _, i := range f.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		out = append(out, p)
	}
	return out
}

// rooms says which of our own packages each package may import. cmd may import
// all; tests may import what they like.
func rooms() map[string][]string {
	return map[string][]string{
		"internal/size":     {},
		"internal/testenv":  {},
		"internal/bytemask": {},
		"internal/es":       {"internal/bytemask"},
		"internal/netio":    {},
		"internal/sandbox":  {"internal/es"},
		// tests only: the sandbox under the official client
		"internal/sandbox/clients": {},
		// a program of its own: it measures the built one from outside
		"scripts/bench":   {},
		"capture/segment": {"internal/size"},
		"capture":         {"capture/segment", "internal/es", "internal/size"},
		"sanitize":        {"capture", "internal/bytemask", "internal/es", "internal/size"},
		// an eye of its own: no code of the sanitiser, none of the capture's readers
		"sanitize/audit":  {},
		"sanitize/canary": {},
		"proxy":           {"capture", "internal/bytemask", "internal/es", "internal/netio", "internal/size"},
		"replay":          {"capture", "capture/segment", "internal/es", "internal/netio", "internal/size"},
		"replay/diff":     {"internal/es"},
		"replay/mirror":   {"replay", "capture", "capture/segment", "internal/es", "internal/size"},
		"replay/report":   {"replay", "replay/diff", "capture/segment", "internal/es"},
		"configs":         {"proxy", "capture", "capture/segment", "sanitize", "replay", "replay/mirror", "internal/size"},
	}
}

func TestImportMap(t *testing.T) {
	allowed := rooms()
	for _, f := range goFiles(t) {
		if f.test || strings.HasPrefix(f.dir, "cmd/") {
			continue
		}
		want, known := allowed[f.dir]
		if !known {
			t.Errorf("%s: no room %q is known: add it to rooms() and to docs/architecture.md", f.path, f.dir)
		}
		for _, imp := range f.imports() {
			if own, ok := strings.CutPrefix(imp, module); ok && !slices.Contains(want, own) {
				t.Errorf("%s imports %s: %s may import only %v", f.path, own, f.dir, want)
			}
		}
	}
}

// owners says which of our packages may use a dependency.
func owners() map[string][]string {
	return map[string][]string{
		"github.com/valyala/fasthttp":               {"proxy", "replay"},
		"github.com/elastic/go-elasticsearch":       {"replay", "replay/report"},
		"github.com/klauspost/compress/zstd":        {"capture/segment", "capture", "sanitize/audit"},
		"filippo.io/age":                            {"capture/segment", "cmd/esshadow"},
		"github.com/blevesearch/bleve":              {"internal/sandbox"},
		"github.com/goccy/go-yaml":                  {"configs"},
		"github.com/spf13/cobra":                    {"cmd/esshadow"},
		"github.com/HdrHistogram/":                  {"replay", "replay/report"},
		"github.com/prometheus/client_golang":       {"proxy", "cmd/esshadow"},
		"golang.org/x/term":                         {"cmd/esshadow"},
		"net/http/pprof":                            {},
		"log":                                       {"proxy"},
		"github.com/rogpeppe/go-internal":           {},
		"github.com/google/go-cmp":                  {},
		"github.com/valyala/fasthttp/fasthttpproxy": {},
	}
}

func TestDependencyOwners(t *testing.T) {
	own := owners()
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		for _, imp := range f.imports() {
			for dep, who := range own {
				match := imp == dep || strings.Contains(dep, ".") && strings.HasPrefix(imp, dep)
				if match && !slices.Contains(who, f.dir) {
					t.Errorf("%s imports %s, which belongs to %v", f.path, imp, who)
				}
			}
		}
	}
}

// pure lists what never reads a clock, a file, a socket or the environment.
func pure() []string {
	return []string{
		"internal/bytemask/", "internal/es/", "internal/size/", "replay/diff/", "replay/schedule.go", "replay/rewrite",
		"replay/guard.go", "capture/segment/format.go", "capture/codec", "capture/filter.go",
	}
}

func TestPureCores(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || !slices.ContainsFunc(pure(), func(p string) bool { return strings.HasPrefix(f.path, p) }) {
			continue
		}
		for _, imp := range f.imports() {
			if imp == "golang.org/x/sys/cpu" { // what instructions there are: neither input nor output
				continue
			}
			if imp == "os" || imp == "net" || imp == "net/http" || imp == "syscall" || strings.HasPrefix(imp, "golang.org/x/sys") {
				t.Errorf("%s imports %s: a pure core does no input or output", f.path, imp)
			}
		}
		calls(f, func(pkg, name string, pos token.Position) {
			if pkg == "time" && (name == "Now" || name == "Since" || name == "Until" || name == "Sleep" || name == "After") {
				t.Errorf("%s: time.%s: a pure core is told the time", pos, name)
			}
		})
	}
}

func calls(f goFile, visit func(pkg, name string, pos token.Position)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil {
				visit(x.Name, s.Sel.Name, f.fset.Position(s.Pos()))
			}
		}
		return true
	})
}

func TestOnlyCmdTalksToTheProcess(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || strings.HasPrefix(f.dir, "cmd/") || strings.HasPrefix(f.dir, "scripts/") || f.dir == "internal/testenv" {
			continue
		}
		calls(f, func(pkg, name string, pos token.Position) {
			switch {
			case pkg == "os" && slices.Contains([]string{"Exit", "Args", "Getenv", "LookupEnv", "Environ", "Setenv"}, name),
				pkg == "signal", pkg == "zap" && slices.Contains([]string{"NewProduction", "NewDevelopment", "New", "L", "S"}, name),
				pkg == "fmt" && (name == "Print" || name == "Println" || name == "Printf"),
				pkg == "time" && name == "Sleep":
				t.Errorf("%s: %s.%s belongs to cmd (or to a timer)", pos, pkg, name)
			}
		})
	}
}

func TestNoInitAndNoPanic(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: init function", f.fset.Position(n.Pos()))
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" {
					t.Errorf("%s: panic: return an error", f.fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// Segments hold lines, whatever a line says; the proxy writes no file.
func TestAbsences(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		for _, imp := range f.imports() {
			switch {
			case f.dir == "proxy" && strings.HasSuffix(imp, "capture/segment"):
				t.Errorf("%s: the proxy never writes a file", f.path)
			case f.dir == "capture" && (imp == "net" || imp == "net/http"):
				t.Errorf("%s: capture never dials", f.path)
			case f.dir == "sanitize" && strings.HasPrefix(imp, "go.uber.org/zap"):
				t.Errorf("%s: sanitize never logs: it holds what must not be logged", f.path)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	const maxFile, maxFunc = 400, 70
	for _, f := range goFiles(t) {
		if !f.test && f.lines > maxFile {
			t.Errorf("%s has %d lines: split it by idea at %d", f.path, f.lines, maxFile)
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.test {
				continue
			}
			if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > maxFunc {
				t.Errorf("%s: %s has %d lines, at most %d", f.fset.Position(fn.Pos()), fn.Name.Name, n, maxFunc)
			}
		}
	}
}

func TestPackagesOpenWithTheirPromise(t *testing.T) {
	docs := map[string]bool{}
	dirs := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		dirs[f.dir] = true
		if f.ast.Doc != nil && len(f.ast.Doc.Text()) > 40 {
			docs[f.dir] = true
		}
	}
	for d := range dirs {
		if !docs[d] {
			t.Errorf("package %s has no doc comment", d)
		}
	}
}

func TestWordsNotUsed(t *testing.T) {
	words := []string{"manager", "processor", "plugin", "helper", "util", "common"}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			for _, name := range declared(d) {
				for _, w := range words {
					if strings.Contains(strings.ToLower(name), w) {
						t.Errorf("%s declares %s: say what it is instead of %q", f.path, name, w)
					}
				}
			}
		}
	}
}

func declared(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}
	case *ast.GenDecl:
		var out []string
		for _, s := range d.Specs {
			if ts, ok := s.(*ast.TypeSpec); ok {
				out = append(out, ts.Name.Name)
			}
		}
		return out
	}
	return nil
}
