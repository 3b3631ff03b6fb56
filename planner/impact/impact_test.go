package impact

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/sqlast"
)

var update = flag.Bool("update", false, "write the golden files anew")

func check(t testing.TB, schema, cand []byte) []Finding {
	t.Helper()
	cat, err := catalog.Load("schema.sql", schema)
	if err != nil {
		t.Fatal(err)
	}
	c, err := candidate.Load("c.yaml", cand, cat)
	if err != nil {
		t.Fatal(err)
	}
	return Check(cat, c)
}

func dump(all []Finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s %s %s: %s %s, line %d\n  %s\n  -> %s\n", f.Severity, f.Code, f.Table, f.Kind, f.Object, f.Line, f.Why, f.Repair)
	}
	return b.String()
}

type golden struct {
	file         string
	ar           *txtar.Archive
	schema, cand []byte
	want         string
}

func goldens(t testing.TB) []golden {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var out []golden
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g := golden{file: file, ar: ar}
		for _, f := range ar.Files {
			switch f.Name {
			case "schema.sql":
				g.schema = f.Data
			case "c.yaml":
				g.cand = f.Data
			case "findings.txt":
				g.want = string(f.Data)
			}
		}
		out = append(out, g)
	}
	return out
}

// TestCheck reads the cases of testdata: schema.sql and c.yaml go in, findings.txt comes out.
func TestCheck(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(strings.TrimSuffix(filepath.Base(g.file), ".txtar"), func(t *testing.T) {
			got := dump(check(t, g.schema, g.cand))
			if *update {
				g.ar.Files = []txtar.File{{Name: "schema.sql", Data: g.schema}, {Name: "c.yaml", Data: g.cand}, {Name: "findings.txt", Data: []byte(got)}}
				if err := os.WriteFile(g.file, txtar.Format(g.ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != g.want {
				t.Errorf("--- got\n%s--- want\n%s", got, g.want)
			}
		})
	}
}

// Every code that Check can give has a case, and a case gives no other.
func TestEveryCodeHasACase(t *testing.T) {
	want := []string{
		FKSetsKey, FKAction, FKUnknown, KeyDefault, KeyGenerated, CopiesDiffer, ViewCrossPlace, ViewUnread, MaterializedView, FunctionPlaces, LargeObject,
		Extension, DynamicSQL, Undecided, reason.UniqueOffKey, reason.FKOffKey, reason.FKCrossColo, reason.KeyNullable, reason.Sequence,
		reason.PartitionKey, reason.Trigger, reason.Rule, reason.RowSecurity, reason.OpaqueFunction,
	}
	got := map[string]bool{}
	for _, g := range goldens(t) {
		for _, f := range check(t, g.schema, g.cand) {
			got[f.Code] = true
			if f.Why == "" || f.Kind == "" || f.Object == "" || f.Line == 0 || f.Severity.rank() < 0 || f.Repair == "" && f.Severity == Breaks {
				t.Errorf("%s: incomplete finding %+v", g.file, f)
			}
		}
	}
	for _, code := range append(want, KeyUpdated) {
		if title := Title(code); title == "" || strings.Contains(title, "_") {
			t.Errorf("%s has no title", code)
		}
	}
	slices.Sort(want)
	if have := sortedKeys(got); !slices.Equal(have, want) {
		t.Errorf("codes of the cases\n%v\nwant\n%v", have, want)
	}
}

// repairSQL is the part of a repair that is SQL, "" if it has blanks to fill in.
func repairSQL(f Finding) string {
	sql, _, _ := strings.Cut(f.Repair, ", from PostgreSQL 15 on")
	var out []string
	for _, stmt := range strings.Split(strings.ReplaceAll(sql, ", and ", "; "), "; ") {
		if strings.HasPrefix(stmt, "ALTER ") || strings.HasPrefix(stmt, "DROP ") || strings.HasPrefix(stmt, "CREATE UNIQUE ") {
			out = append(out, stmt)
		}
	}
	if len(out) == 0 || strings.Contains(sql, "...") && !strings.HasPrefix(sql, "UPDATE ") {
		return ""
	}
	return strings.Join(out, "; ")
}

// A repair that is SQL is valid, and once it is applied its finding is gone.
func TestRepairsRepair(t *testing.T) {
	n := 0
	for _, g := range goldens(t) {
		for _, f := range check(t, g.schema, g.cand) {
			sql := repairSQL(f)
			if sql == "" {
				continue
			}
			if _, err := sqlast.Parse(sql); err != nil {
				t.Errorf("%s: %s: %v", f.Object, sql, err)
				continue
			}
			n++
			for _, again := range check(t, append(append([]byte{}, g.schema...), sql+";"...), g.cand) {
				if again.Code == f.Code && again.Table == f.Table && again.Object == f.Object {
					t.Errorf("%s of %s: still there after %s:\n%s", f.Object, f.Table, sql, again.Why)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("%d repairs were SQL; the test sees too little", n)
	}
}

// The order of a schema's statements changes lines, and nothing else.
func TestOrderOfTablesDoesNotMatter(t *testing.T) {
	parts := []string{
		"CREATE TABLE a (id bigint, k bigint NOT NULL, PRIMARY KEY (id));", "CREATE TABLE b (id bigserial PRIMARY KEY, k bigint);",
		"CREATE TABLE r (x text DEFAULT current_user);", "CREATE TABLE u (n int UNIQUE);", "CREATE TABLE w (k bigint NOT NULL, o oid);",
	}
	cand := []byte("shards: 4\ncolos: {c: {key: {name: k, type: bigint}, tables: [a, b, w]}}\nreference: [r]")
	var want []Finding
	for i := range 20 {
		rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		got := check(t, []byte(strings.Join(parts, "\n")), cand)
		for j := range got {
			got[j].Line = 0
		}
		if want == nil {
			want = got
		}
		if len(got) < 7 || !slices.Equal(got, want) {
			t.Fatalf("%d findings\n%s\nwant\n%s", len(got), dump(got), dump(want))
		}
	}
}

func TestCount(t *testing.T) {
	if n := Count([]Finding{{Severity: Info}, {Severity: Breaks}, {Severity: Info}}); n[Breaks] != 1 || n[Weakens] != 0 || n[Info] != 2 || len(n) != 3 {
		t.Errorf("%v", n)
	}
}

func TestSequenceOf(t *testing.T) {
	for in, want := range map[string]string{
		"nextval('public.s'::regclass)": "s", "nextval('app.s')": "app.s", "nextval(x)": "...", "nextval('": "...",
	} {
		if got := sequenceOf(in); got != want {
			t.Errorf("sequence of %q is %q, want %q", in, got, want)
		}
	}
}

// everywhere is a candidate for any schema: tables with a key column of some kind are sharded, the others copied or left, by turns.
func everywhere(cat *catalog.Catalog) *candidate.Candidate {
	c := &candidate.Candidate{Colos: []*candidate.Colo{{Name: "a", KeyType: "int8", Shards: 4}, {Name: "b", KeyType: "text", Shards: 2}}, Tables: map[string]*candidate.Table{}}
	for i, key := range sortedKeys(cat.Relations) {
		r := cat.Relations[key]
		if r.Kind == catalog.View || i%7 == 6 {
			continue
		}
		t := &candidate.Table{Key: key, Placement: candidate.Reference + candidate.Placement(i%2)}
		for col, k := range r.Columns {
			if k.Type == "int8" || k.Type == "text" {
				t.Placement, t.Colo, t.Column, t.Col = candidate.Sharded, c.Colos[i%2], k.Name, col
				break
			}
		}
		c.Tables[key] = t
	}
	return c
}

// Check never panics, whatever the schema; its findings are complete, and the same each time.
func FuzzCheck(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.schema)
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		cat, err := catalog.Load("schema.sql", schema)
		if err != nil {
			return
		}
		c := everywhere(cat)
		all := Check(cat, c)
		for _, x := range all {
			if x.Code == "" || x.Why == "" || x.Kind == "" || x.Severity.rank() < 0 {
				t.Errorf("incomplete: %+v", x)
			}
		}
		if again := Check(cat, c); !slices.Equal(all, again) {
			t.Errorf("another time\n%s\nthan\n%s", dump(again), dump(all))
		}
	})
}

// BenchmarkCheck is over a schema of 4,000 tables, 1,000 views and 1,000 functions.
func BenchmarkCheck(b *testing.B) {
	var ddl, yaml strings.Builder
	yaml.WriteString("shards: 64\ncolos: {c: {key: {name: k, type: bigint}, tables: [")
	for i := range 4000 {
		fmt.Fprintf(&ddl, "CREATE TABLE t%d (k bigint NOT NULL, id bigserial PRIMARY KEY, other bigint REFERENCES t%d, at timestamptz DEFAULT now(), UNIQUE (k, other));\n", i, i/2)
		fmt.Fprintf(&yaml, "t%d, ", i)
		if i%4 == 0 {
			fmt.Fprintf(&ddl, "CREATE VIEW v%d AS SELECT * FROM t%d JOIN t%d USING (k);\n", i, i, i/2)
			fmt.Fprintf(&ddl, "CREATE FUNCTION f%d() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DELETE FROM v%d; PERFORM f%d(); END $$;\n", i, i, i/8*4)
		}
	}
	yaml.WriteString("]}}")
	cat, err := catalog.Load("schema.sql", []byte(ddl.String()))
	if err != nil {
		b.Fatal(err)
	}
	cand, err := candidate.Load("c.yaml", []byte(yaml.String()), cat)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if len(Check(cat, cand)) < 12_000 {
			b.Fatal("too few findings")
		}
	}
}
