package sqlgen_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/foreshard/foreshard/analysis/prove/sqlgen"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/sqlast"
)

var (
	statements = flag.Int("statements", 600, "generated statements to rewrite")
	seed       = flag.Uint64("seed", 1, "seed of the generated statements")
)

func oraclePlanner(t *testing.T) *planner.Planner {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("../../../fixtures/oracle", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cat, err := catalog.Load("schema.sql", append(append(read("schema.sql"), '\n'), read("objects.sql")...))
	if err != nil {
		t.Fatal(err)
	}
	cand, err := candidate.Load("candidate.yaml", read("candidate.yaml"), cat)
	if err != nil {
		t.Fatal(err)
	}
	return planner.New(cat, cand)
}

// values are what literals are made of: no data is needed, because nothing is executed.
func values(cat *catalog.Catalog) sqlgen.Samples {
	return func(table, column string) []string {
		r := cat.Relations[table]
		if r == nil || r.Column(column) < 0 {
			return nil
		}
		switch r.Columns[r.Column(column)].Type {
		case "int2", "int4", "int8", "numeric":
			return []string{"5", "6", "7"}
		case "text", "varchar":
			return []string{"org1", "org2", "5"}
		case "uuid":
			return []string{"bd19836d-db62-c11c-55ab-251ccaca5645", "3667f6a0-c974-9075-8d7d-c9659d01ea34"}
		}
		return nil
	}
}

// rewriting is a change that keeps the meaning of a statement. It returns false where it does not apply.
type rewriting struct {
	name  string
	apply func(*sqlast.Node) bool
	other bool // the class may be another proof's: one more level hides what the merge does, and hands facts to the arms of a set operation
}

func boolExpr(op sqlast.BoolExprType, args ...*sqlast.Node) *sqlast.Node {
	return &sqlast.Node{Node: &sqlast.Node_BoolExpr{BoolExpr: &sqlast.BoolExpr{Boolop: op, Args: args}}}
}

func boolConst(v bool) *sqlast.Node {
	return &sqlast.Node{Node: &sqlast.Node_AConst{AConst: &sqlast.A_Const{Val: &sqlast.A_Const_Boolval{Boolval: &sqlast.Boolean{Boolval: v}}}}}
}

// eachWhere changes every WHERE clause of SELECT, UPDATE and DELETE.
func eachWhere(n *sqlast.Node, change func(*sqlast.Node) *sqlast.Node) bool {
	found := false
	at := func(where **sqlast.Node) {
		if *where != nil {
			*where, found = change(*where), true
		}
	}
	sqlast.Walk(n, func(n *sqlast.Node) bool {
		switch {
		case n.GetSelectStmt() != nil:
			at(&n.GetSelectStmt().WhereClause)
		case n.GetUpdateStmt() != nil:
			at(&n.GetUpdateStmt().WhereClause)
		case n.GetDeleteStmt() != nil:
			at(&n.GetDeleteStmt().WhereClause)
		}
		return true
	})
	return found
}

// eachFrom changes every FROM item of SELECT, through joins.
func eachFrom(n *sqlast.Node, change func(*sqlast.Node)) {
	var item func(*sqlast.Node)
	var items []*sqlast.Node // changed at the end: what a change adds is not walked over
	item = func(f *sqlast.Node) {
		if j := f.GetJoinExpr(); j != nil {
			item(j.Larg)
			item(j.Rarg)
			return
		}
		items = append(items, f)
	}
	sqlast.Walk(n, func(n *sqlast.Node) bool {
		if s := n.GetSelectStmt(); s != nil {
			for _, f := range s.FromClause {
				item(f)
			}
		}
		return true
	})
	for _, f := range items {
		change(f)
	}
}

func starOf(from *sqlast.Node) *sqlast.SelectStmt {
	star := &sqlast.Node{Node: &sqlast.Node_ColumnRef{ColumnRef: &sqlast.ColumnRef{Fields: []*sqlast.Node{{Node: &sqlast.Node_AStar{AStar: &sqlast.A_Star{}}}}}}}
	return &sqlast.SelectStmt{
		TargetList: []*sqlast.Node{{Node: &sqlast.Node_ResTarget{ResTarget: &sqlast.ResTarget{Val: star}}}},
		FromClause: []*sqlast.Node{from}, LimitOption: sqlast.LimitOption_LIMIT_OPTION_DEFAULT, Op: sqlast.SetOperation_SETOP_NONE,
	}
}

func derived(sel *sqlast.SelectStmt, alias string) *sqlast.Node {
	return &sqlast.Node{Node: &sqlast.Node_RangeSubselect{RangeSubselect: &sqlast.RangeSubselect{
		Subquery: &sqlast.Node{Node: &sqlast.Node_SelectStmt{SelectStmt: sel}}, Alias: &sqlast.Alias{Aliasname: alias}}}}
}

func rewritings() []rewriting {
	return []rewriting{
		{name: "written down again", apply: func(*sqlast.Node) bool { return true }},
		{name: "NOT NOT p", apply: func(n *sqlast.Node) bool {
			return eachWhere(n, func(p *sqlast.Node) *sqlast.Node {
				return boolExpr(sqlast.BoolExprType_NOT_EXPR, boolExpr(sqlast.BoolExprType_NOT_EXPR, p))
			})
		}},
		{name: "p AND true", apply: func(n *sqlast.Node) bool {
			return eachWhere(n, func(p *sqlast.Node) *sqlast.Node { return boolExpr(sqlast.BoolExprType_AND_EXPR, p, boolConst(true)) })
		}},
		{name: "p OR false", apply: func(n *sqlast.Node) bool {
			return eachWhere(n, func(p *sqlast.Node) *sqlast.Node { return boolExpr(sqlast.BoolExprType_OR_EXPR, boolConst(false), p) })
		}},
		{name: "p AND p", apply: func(n *sqlast.Node) bool {
			return eachWhere(n, func(p *sqlast.Node) *sqlast.Node {
				return boolExpr(sqlast.BoolExprType_AND_EXPR, p, proto.Clone(p).(*sqlast.Node))
			})
		}},
		{name: "tables as derived tables", apply: func(n *sqlast.Node) bool {
			found := false
			ctes := map[string]bool{}
			sqlast.Walk(n, func(n *sqlast.Node) bool {
				if c := n.GetCommonTableExpr(); c != nil {
					ctes[c.Ctename] = true
				}
				if s := n.GetSelectStmt(); s != nil && len(s.LockingClause) > 0 {
					ctes["*"] = true
				}
				return true
			})
			if ctes["*"] {
				return false // a lock on a derived table is another statement
			}
			eachFrom(n, func(f *sqlast.Node) {
				v := f.GetRangeVar()
				if v == nil || v.Alias == nil || ctes[v.Relname] {
					return
				}
				alias := v.Alias.Aliasname
				found = true
				f.Node = derived(starOf(&sqlast.Node{Node: &sqlast.Node_RangeVar{RangeVar: v}}), alias).Node
			})
			return found
		}},
		{name: "the whole as a derived table", other: true, apply: func(n *sqlast.Node) bool {
			s := n.GetSelectStmt()
			if s == nil || len(s.LockingClause) > 0 || writes(n) {
				return false
			}
			n.Node = &sqlast.Node_SelectStmt{SelectStmt: starOf(derived(s, "w"))}
			return true
		}},
		{name: "inner joins as commas", apply: func(n *sqlast.Node) bool {
			s := n.GetSelectStmt()
			if s == nil || len(s.FromClause) != 1 {
				return false
			}
			found := false
			for {
				j := s.FromClause[0].GetJoinExpr()
				if j == nil || j.Jointype != sqlast.JoinType_JOIN_INNER || j.IsNatural || len(j.UsingClause) > 0 || j.Alias != nil {
					return found
				}
				s.FromClause = append([]*sqlast.Node{j.Larg, j.Rarg}, s.FromClause[1:]...)
				switch {
				case j.Quals != nil && s.WhereClause != nil:
					s.WhereClause = boolExpr(sqlast.BoolExprType_AND_EXPR, j.Quals, s.WhereClause)
				case j.Quals != nil:
					s.WhereClause = j.Quals
				}
				found = true
			}
		}},
		{name: "arms of UNION ALL swapped", apply: func(n *sqlast.Node) bool {
			found := false
			recursive := false
			sqlast.Walk(n, func(n *sqlast.Node) bool {
				recursive = recursive || n.GetWithClause().GetRecursive() || n.GetSelectStmt().GetWithClause().GetRecursive()
				return true
			})
			s := n.GetSelectStmt()
			if s == nil || recursive || s.Op != sqlast.SetOperation_SETOP_UNION || !s.All {
				return false
			}
			if s.Larg.WithClause == nil && s.Rarg.WithClause == nil {
				s.Larg, s.Rarg, found = s.Rarg, s.Larg, true
			}
			return found
		}},
		{name: "sides of an equality swapped", apply: func(n *sqlast.Node) bool {
			found := false
			sqlast.Walk(n, func(n *sqlast.Node) bool {
				e := n.GetAExpr()
				if e != nil && e.Kind == sqlast.A_Expr_Kind_AEXPR_OP && len(e.Name) == 1 && e.Name[0].GetString_().GetSval() == "=" {
					e.Lexpr, e.Rexpr, found = e.Rexpr, e.Lexpr, true
				}
				return true
			})
			return found
		}},
	}
}

func writes(n *sqlast.Node) bool {
	found := false
	sqlast.Walk(n, func(n *sqlast.Node) bool {
		found = found || n.GetInsertStmt() != nil || n.GetUpdateStmt() != nil || n.GetDeleteStmt() != nil || n.GetMergeStmt() != nil
		return !found
	})
	return found
}

// shape is a tree without the places of its parts in a text.
func shape(t *testing.T, n *sqlast.Node) []byte {
	n = proto.Clone(n).(*sqlast.Node)
	clearPlaces(n.ProtoReflect())
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func clearPlaces(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case strings.HasSuffix(string(field.Name()), "location"):
			m.Clear(field)
		case field.Kind() != protoreflect.MessageKind:
		case field.IsList():
			for i := range value.List().Len() {
				clearPlaces(value.List().Get(i).Message())
			}
		default:
			clearPlaces(value.Message())
		}
		return true
	})
}

// cost orders the classes that say where a statement runs.
var cost = map[planner.Class]int{
	planner.None: 0, planner.Reference: 1, planner.Unsharded: 1, planner.SingleShard: 2, planner.MultiShard: 3, planner.Scatter: 4, planner.Broadcast: 5, planner.MultiPhase: 6,
}

// A statement that is written differently but means the same has the same class.
func TestMetamorphic(t *testing.T) {
	p := oraclePlanner(t)
	gen := sqlgen.New(*seed, p.Catalog(), p.Candidate(), values(p.Catalog()), nil)
	applied, lost := map[string]int{}, 0
	alias := regexp.MustCompile(`\ba(\d+)\b`)
	for range *statements {
		st := gen.Statement()
		ask := func(sql string) planner.Class {
			q := planner.Question{SQL: sql}
			for _, v := range st.Params {
				q.Params = append(q.Params, planner.Param(v))
			}
			return p.Explain(q).Class
		}
		want := ask(st.SQL)
		if _, ok := cost[want]; !ok {
			continue
		}
		if got := ask(alias.ReplaceAllString(st.SQL, "zz_$1")); got != want {
			t.Errorf("other aliases: %s becomes %s\n  %s", want, got, st.SQL)
		}
		faithful := true
		for _, r := range rewritings() {
			n, err := sqlast.ParseOne(st.SQL)
			if err != nil {
				t.Fatalf("%s: %v", st.SQL, err)
			}
			if !r.apply(n) || r.name != rewritings()[0].name && !faithful {
				continue
			}
			text, err := sqlast.Deparse(n)
			if err != nil {
				t.Fatalf("%s: %s: %v", r.name, st.SQL, err)
			}
			applied[r.name]++
			got := ask(text)
			if r.name == "written down again" {
				// The deparser leaves out some parentheses: what it changes is no statement to rewrite.
				again, err := sqlast.ParseOne(text)
				if faithful = err == nil && bytes.Equal(shape(t, n), shape(t, again)); !faithful {
					lost++
					continue
				}
			}
			if _, known := cost[got]; got == want || r.other && known && (cost[got] < cost[want] || cost[want] > cost[planner.SingleShard]) {
				continue
			}
			t.Errorf("%s: %s becomes %s\n  %s\n  %s", r.name, want, got, st.SQL, text)
		}
	}
	for _, r := range rewritings() {
		if applied[r.name] == 0 {
			t.Errorf("%s never applied", r.name)
		}
	}
	t.Log(applied)
	if lost > *statements/20 {
		t.Errorf("%d statements are not written down as they were read", lost)
	}
}
