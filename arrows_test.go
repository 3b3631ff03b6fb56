// Package foreshard_test holds the promises that no single package can hold: which package may import which, the one door of each heavy
// dependency, and what the README says of them.
package foreshard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

const module = "github.com/foreshard/foreshard"

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath string
	Name       string
	Doc        string
	Imports    []string // of its non-test files
	GoFiles    []string
	CgoFiles   []string
}

// rel is the package's path inside the module, "" for the root.
func (p goPackage) rel() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports,GoFiles,CgoFiles", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var all []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles)+len(p.CgoFiles) > 0 {
			all = append(all, p)
		}
	}
	if len(all) < 10 {
		t.Fatalf("go list found %d packages; the test sees nothing", len(all))
	}
	return all
}

// layers are the top folders, from what may import most to what may import least. capture and planner are beside each other.
var layers = map[string]int{"cmd": 5, "web": 4, "reports": 3, "analysis": 2, "capture": 1, "planner": 1}

// captureMay are the two leaves of planner that capture uses, because values are taken out where they are seen.
var captureMay = []string{"planner/sqltext", "planner/layout"}

// arrow says why from may not import to, "" if it may. Both are paths inside the module.
func arrow(from, to string) string {
	top := func(p string) string { return strings.SplitN(p, "/", 2)[0] }
	a, b := top(from), top(to)
	switch {
	case a == "fixtures":
		return "" // imported by tests and the demo only, so it cannot bend the arrows
	case b == "fixtures":
		return "fixtures are for tests and the demo"
	case layers[a] == 0 || layers[b] == 0:
		return "a top folder that DESIGN's layout does not have"
	case within(from, "planner/router") && b == "capture":
		return ""
	case a == "planner" && within(to, "planner/router") && !within(from, "planner/router"):
		return "the planner is pure; the router is not"
	case a == b || layers[a] > layers[b]:
		return ""
	case a == "capture" && b == "planner":
		for _, leaf := range captureMay {
			if to == leaf {
				return ""
			}
		}
		return "capture imports of planner only sqltext and layout"
	}
	return "imports run cmd, web, reports, analysis, then capture and planner"
}

func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, imp := range p.Imports {
			if within(imp, module) {
				if why := arrow(p.rel(), strings.TrimPrefix(imp, module+"/")); why != "" {
					t.Errorf("%s imports %s: %s", p.rel(), imp, why)
				}
			}
		}
	}
}

// The rule itself is tested, because a rule that allows everything would pass above.
func TestArrow(t *testing.T) {
	for _, c := range []struct {
		from, to string
		may      bool
	}{
		{"cmd/foreshard", "web", true},
		{"web", "reports", true},
		{"reports", "analysis", true},
		{"analysis/pipeline", "capture/pglog", true},
		{"analysis", "planner/facts", true},
		{"capture/pglog", "planner/sqltext", true},
		{"capture/pglog", "planner/facts", false},
		{"capture", "analysis", false},
		{"planner", "capture", false},
		{"planner/router", "capture", true},
		{"planner", "planner/router", false},
		{"planner/facts", "analysis", false},
		{"analysis", "reports", false},
		{"reports", "web", false},
		{"web", "cmd/foreshard", false},
		{"analysis", "fixtures/app", false},
		{"fixtures/app", "analysis", true},
		{"helpers", "planner", false},
	} {
		if may := arrow(c.from, c.to) == ""; may != c.may {
			t.Errorf("%s imports %s: allowed %t, want %t", c.from, c.to, may, c.may)
		}
	}
}

// doors are the heavy dependencies and the one folder that may import each.
var doors = map[string]string{
	"github.com/pganalyze/pg_query_go": "planner/sqlast",
	"github.com/duckdb/duckdb-go":      "analysis",
	"github.com/apache/arrow-go":       "analysis",
	"github.com/segmentio/kafka-go":    "capture/stream",
	"github.com/go-echarts/go-echarts": "reports",
	"github.com/jackc/pglogrepl":       "capture/pgwal",
}

func TestHeavyDependenciesHaveOneDoor(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, imp := range p.Imports {
			for dep, door := range doors {
				if within(imp, dep) && !within(p.rel(), door) && !within(p.rel(), "fixtures") {
					t.Errorf("%s imports %s, whose door is %s", p.rel(), imp, door)
				}
			}
		}
	}
}

// The planner is pure: what it decides must be the same in analysis, in CI and in the router. go list cannot see goroutines, but it can see
// what a clock, a log, a file or a die would be imported as.
func TestPlannerIsPure(t *testing.T) {
	impure := map[string]bool{"os": true, "net": true, "net/http": true, "log": true, "log/slog": true, "os/exec": true, "math/rand": true, "math/rand/v2": true, "crypto/rand": true}
	for _, p := range listPackages(t) {
		if !within(p.rel(), "planner") || within(p.rel(), "planner/router") {
			continue
		}
		for _, imp := range p.Imports {
			if impure[imp] {
				t.Errorf("%s imports %s", p.rel(), imp)
			}
		}
	}
}

func TestPackagesAreNamedAndExplained(t *testing.T) {
	vague := map[string]bool{"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "misc": true, "types": true, "pkg": true, "internal": true}
	for _, p := range listPackages(t) {
		for _, part := range strings.Split(p.rel(), "/") {
			if vague[part] {
				t.Errorf("package %s: %q is not a noun of the field", p.rel(), part)
			}
		}
		want := "Package " + p.Name
		if p.Name == "main" {
			want = "Command " + path.Base(p.rel())
		}
		if !strings.HasPrefix(p.Doc, want) {
			t.Errorf("package %s: its comment begins %q, want %q", p.rel(), p.Doc, want)
		}
	}
}

// A replace directive would make `go install` of the command fail for everybody else; DuckDB is pinned because later releases of its Go module
// take the engine from other modules; a dependency that the README does not explain was never decided on.
func TestModuleFile(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^\s*replace\b`).Match(mod) {
		t.Error("go.mod has a replace directive")
	}
	if !bytes.Contains(mod, []byte("github.com/duckdb/duckdb-go/v2 v2.10506.0\n")) {
		t.Error("go.mod does not pin github.com/duckdb/duckdb-go/v2 at v2.10506.0")
	}
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllSubmatch(mod, -1)
	if len(direct) < 10 {
		t.Fatalf("found %d direct dependencies in go.mod; the test sees nothing", len(direct))
	}
	for _, d := range direct {
		if !bytes.Contains(readme, d[1]) {
			t.Errorf("README.md does not explain the dependency %s", d[1])
		}
	}
}

// Nothing that is committed may name a machine's own directories or a package registry.
func TestNoMachineInTrackedFiles(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	machine := regexp.MustCompile(`"resolved": *"https?:|GOPROXY` + `=|["' (]/work` + `/|/root` + `/|registry\.npm` + `js`)
	for _, file := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if m := machine.Find(text); m != nil {
			t.Errorf("%s holds %q", file, m)
		}
	}
}
