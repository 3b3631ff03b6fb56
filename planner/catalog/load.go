package catalog

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// maxErrors is how many errors Load reports before it gives up.
const maxErrors = 20

// loader builds a catalog statement by statement.
type loader struct {
	name    string
	c       *Catalog
	path    []string // search_path in force in the script
	line    int      // of the statement at hand
	text    string   // of the statement at hand
	nondet  map[string]bool
	domains map[string]domain
	index   map[string]string // unique index or constraint key -> relation key
	errs    []error
}

// domain is what a column takes over from its domain.
type domain struct {
	def              string
	defVolatile      bool
	collation        string
	nonDeterministic bool
}

// Load turns the text of a schema, named name in errors, into a catalog. It reads what pg_dump --schema-only of PostgreSQL 12 to 17 writes,
// and plain DDL. Every statement is either understood or counted in Skipped; one that cannot be is an error with file and line. All errors
// found (at most 20) are joined.
func Load(name string, ddl []byte) (*Catalog, error) {
	if why := notText(ddl); why != "" {
		return nil, fmt.Errorf("load schema %q: %s", name, why)
	}
	l := &loader{
		name: name,
		c: &Catalog{
			SearchPath: []string{"public"}, Relations: map[string]*Relation{}, Functions: map[string][]*Function{}, Types: map[string]*Type{},
			Sequences: map[string]bool{}, Extensions: map[string]int{}, Skipped: map[string]int{},
		},
		path: []string{"public"}, nondet: map[string]bool{}, domains: map[string]domain{}, index: map[string]string{},
	}
	s := &splitter{src: strings.TrimPrefix(string(ddl), "\ufeff"), line: 1, skipped: l.c.Skipped}
	for len(l.errs) < maxErrors {
		p, ok, err := s.next()
		if err != nil {
			l.errs = append(l.errs, fmt.Errorf("load schema %q: %w", name, err))
			break
		}
		if !ok {
			break
		}
		l.line, l.text = p.line, p.text
		l.piece(p)
	}
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	l.finish()
	return l.c, nil
}

// fail records an error about the statement at hand.
func (l *loader) fail(format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf("load schema %q: line %d: %w", l.name, l.line, fmt.Errorf(format, args...)))
}

func (l *loader) skip(kind string) { l.c.Skipped[kind]++ }

// piece reads one statement. Data is skipped without a parse: it can be large.
func (l *loader) piece(p piece) {
	switch p.verb {
	case "insert", "copy", "update", "delete":
		l.skip(p.verb)
		return
	}
	stmts, err := parse(p.text)
	if err != nil {
		var at *sqlast.Error
		if errors.As(err, &at) && at.Pos > 0 && at.Pos <= len(p.text) {
			l.line += strings.Count(p.text[:at.Pos], "\n")
			l.fail("%s; correct or remove the statement that begins on line %d", at.Message, p.line)
			return
		}
		l.fail("%w; correct or remove the statement", err)
		return
	}
	for _, raw := range stmts {
		l.statement(raw.GetStmt())
	}
}

// parse parses a statement. pg_dump of a PostgreSQL newer than the grammar writes a few clauses that it lacks; those are read as modernise
// rewrites them.
func parse(text string) ([]*sqlast.RawStmt, error) {
	stmts, err := sqlast.Parse(text)
	if err == nil {
		return stmts, nil
	}
	if older, changed := modernise(text); changed {
		if stmts, again := sqlast.Parse(older); again == nil {
			return stmts, nil
		}
	}
	return nil, err
}

// statement dispatches on the kind of a statement. Kinds that say nothing about names, types, constraints or code are counted.
func (l *loader) statement(node *sqlast.Node) {
	switch n := node.GetNode().(type) {
	case *sqlast.Node_CreateStmt:
		l.createTable(n.CreateStmt, Table)
	case *sqlast.Node_CreateForeignTableStmt:
		l.createTable(n.CreateForeignTableStmt.GetBaseStmt(), ForeignTable)
	case *sqlast.Node_CreateTableAsStmt:
		l.createTableAs(n.CreateTableAsStmt)
	case *sqlast.Node_ViewStmt:
		l.createView(n.ViewStmt)
	case *sqlast.Node_AlterTableStmt:
		l.alterTable(n.AlterTableStmt)
	case *sqlast.Node_IndexStmt:
		l.createIndex(n.IndexStmt)
	case *sqlast.Node_CreateSeqStmt:
		l.c.Sequences[l.newKey(n.CreateSeqStmt.GetSequence())] = true
	case *sqlast.Node_CreateFunctionStmt:
		l.createFunction(n.CreateFunctionStmt)
	case *sqlast.Node_AlterFunctionStmt:
		l.alterFunction(n.AlterFunctionStmt)
	case *sqlast.Node_DefineStmt:
		l.define(n.DefineStmt)
	case *sqlast.Node_CreateTrigStmt:
		l.createTrigger(n.CreateTrigStmt)
	case *sqlast.Node_RuleStmt:
		l.createRule(n.RuleStmt)
	case *sqlast.Node_CreatePolicyStmt:
		l.createPolicy(n.CreatePolicyStmt)
	case *sqlast.Node_AlterPolicyStmt:
		if r := l.must("alter policy", n.AlterPolicyStmt.GetTable()); r != nil {
			delete(r.PolicySQL, n.AlterPolicyStmt.GetPolicyName()) // what it says now is not kept
		}
		l.skip("alter policy")
	case *sqlast.Node_CreateEnumStmt:
		l.createType(n.CreateEnumStmt.GetTypeName(), 'e')
	case *sqlast.Node_CreateRangeStmt:
		l.createType(n.CreateRangeStmt.GetTypeName(), 'r')
	case *sqlast.Node_CompositeTypeStmt:
		l.createComposite(n.CompositeTypeStmt)
	case *sqlast.Node_CreateDomainStmt:
		l.createDomain(n.CreateDomainStmt)
	case *sqlast.Node_AlterDomainStmt:
		l.alterDomain(n.AlterDomainStmt)
	case *sqlast.Node_CreateExtensionStmt:
		l.c.Extensions[n.CreateExtensionStmt.GetExtname()] = l.line
		l.skip("create extension")
	case *sqlast.Node_DropStmt:
		l.drop(n.DropStmt)
	case *sqlast.Node_RenameStmt:
		l.rename(n.RenameStmt)
	case *sqlast.Node_AlterObjectSchemaStmt:
		l.setSchema(n.AlterObjectSchemaStmt)
	case *sqlast.Node_VariableSetStmt:
		l.set(n.VariableSetStmt)
	case *sqlast.Node_SelectStmt:
		l.selectSetting(n.SelectStmt)
	case *sqlast.Node_AlterDatabaseSetStmt:
		l.alterDatabase(n.AlterDatabaseSetStmt)
	case *sqlast.Node_CreateSchemaStmt:
		l.createSchema(n.CreateSchemaStmt)
	case *sqlast.Node_TransactionStmt:
		if kind := n.TransactionStmt.GetKind(); kind == sqlast.TransactionStmtKind_TRANS_STMT_ROLLBACK || kind == sqlast.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO {
			l.fail("rollback: it would undo statements that are read already; remove it together with what it undoes")
			return
		}
		l.skip("transaction")
	case *sqlast.Node_ImportForeignSchemaStmt, *sqlast.Node_DropOwnedStmt:
		l.fail("%s: what it makes or drops is known to a server only; dump the schema from one", kindOf(node))
	default: // also DO and CALL, code that may change the schema: a table that is missing later can be traced to the count
		l.skip(kindOf(node))
	}
}

// kindOf names a statement for Skipped: CommentStmt is "comment", AlterOwnerStmt "alter owner".
func kindOf(node *sqlast.Node) string {
	if node.GetNode() == nil {
		return "empty"
	}
	name := reflect.TypeOf(node.GetNode()).Elem().Name()
	name = strings.TrimSuffix(strings.TrimPrefix(name, "Node_"), "Stmt")
	return spaced(name)
}

// spaced turns AlterOwner into "alter owner".
func spaced(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte(' ')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// set follows SET search_path; every other setting is counted.
func (l *loader) set(n *sqlast.VariableSetStmt) {
	if n.GetName() != "search_path" {
		l.skip("set")
		return
	}
	if len(n.GetArgs()) == 0 { // RESET, SET TO DEFAULT
		l.path = l.c.SearchPath
		return
	}
	l.path = pathOf(n.GetArgs())
}

// pathOf reads the schemas of a search_path. "$user" is left out: the dump does not say who connects.
func pathOf(args []*sqlast.Node) []string {
	var path []string
	for _, a := range args {
		s := a.GetAConst().GetSval().GetSval()
		if s == "" || s == "$user" {
			continue
		}
		path = append(path, s)
	}
	return path
}

// selectSetting follows SELECT pg_catalog.set_config('search_path', value, false), which pg_dump writes.
func (l *loader) selectSetting(n *sqlast.SelectStmt) {
	l.skip("select")
	if len(n.GetTargetList()) != 1 {
		return
	}
	call := n.GetTargetList()[0].GetResTarget().GetVal().GetFuncCall()
	if call == nil || len(call.GetArgs()) != 3 || last(strs(call.GetFuncname())) != "set_config" {
		return
	}
	if call.GetArgs()[0].GetAConst().GetSval().GetSval() != "search_path" {
		return
	}
	value := call.GetArgs()[1].GetAConst()
	if value == nil {
		l.fail("set_config of search_path: the value is no constant; write SET search_path = ...")
		return
	}
	l.path = nil
	for _, s := range strings.Split(value.GetSval().GetSval(), ",") {
		if s = strings.Trim(strings.TrimSpace(s), `"`); s != "" && s != "$user" {
			l.path = append(l.path, s)
		}
	}
}

// alterDatabase takes the search_path of ALTER DATABASE ... SET as the default of every session.
func (l *loader) alterDatabase(n *sqlast.AlterDatabaseSetStmt) {
	set := n.GetSetstmt()
	if set.GetName() != "search_path" {
		l.skip("alter database set")
		return
	}
	if path := pathOf(set.GetArgs()); len(path) > 0 {
		l.c.SearchPath = path
	}
}

// createSchema counts the schema and reads the objects written inside the statement.
func (l *loader) createSchema(n *sqlast.CreateSchemaStmt) {
	l.skip("create schema")
	if len(n.GetSchemaElts()) == 0 {
		return
	}
	outer := l.path
	l.path = append([]string{n.GetSchemaname()}, outer...)
	for _, e := range n.GetSchemaElts() {
		l.statement(e)
	}
	l.path = outer
}

// newSchema is where an object without a schema is made.
func (l *loader) newSchema() string {
	if len(l.path) == 0 {
		return "public"
	}
	return l.path[0]
}

// newKey is the key of a relation that a statement makes.
func (l *loader) newKey(rv *sqlast.RangeVar) string {
	return Key(l.schemaOf(rv), rv.GetRelname())
}

func (l *loader) schemaOf(rv *sqlast.RangeVar) string {
	switch {
	case rv.GetSchemaname() != "":
		return rv.GetSchemaname()
	case rv.GetRelpersistence() == "t":
		return "pg_temp"
	}
	return l.newSchema()
}

// find returns the relation a statement names, nil if there is none.
func (l *loader) find(rv *sqlast.RangeVar) *Relation {
	if rv.GetSchemaname() == "" {
		if r := l.c.Relations[Key("pg_temp", rv.GetRelname())]; r != nil {
			return r
		}
	}
	path := l.path
	if len(path) == 0 {
		path = []string{"public"}
	}
	return l.c.Relation(path, rv.GetSchemaname(), rv.GetRelname())
}

// must returns the relation a statement names; a missing one is an error.
func (l *loader) must(verb string, rv *sqlast.RangeVar) *Relation {
	r := l.find(rv)
	if r == nil {
		l.fail("%s: there is no relation %q in the schema so far; dump it as well, or remove the statement", verb, shown(rv))
	}
	return r
}

func shown(rv *sqlast.RangeVar) string {
	if rv.GetSchemaname() == "" {
		return rv.GetRelname()
	}
	return Key(rv.GetSchemaname(), rv.GetRelname())
}

// named splits a qualified name into schema and name; the schema is where such an object is made if the name has none.
func (l *loader) named(names []*sqlast.Node) (schema, name string) {
	s := strs(names)
	if len(s) == 0 {
		return "", ""
	}
	if len(s) == 1 {
		return l.newSchema(), s[0]
	}
	return s[len(s)-2], s[len(s)-1]
}

// strs returns the strings of a list of String nodes.
func strs(nodes []*sqlast.Node) []string {
	var out []string
	for _, n := range nodes {
		if s := n.GetString_(); s != nil {
			out = append(out, s.GetSval())
		}
	}
	return out
}

func last(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1]
}

// finish settles what could not be known before the end, and the hash.
func (l *loader) finish() {
	for _, r := range l.c.Relations {
		slices.Sort(r.Children)
		slices.Sort(r.Policies)
		slices.Sort(r.Rules)
		for i := range r.Columns {
			l.finishColumn(&r.Columns[i])
		}
		for _, fk := range r.ForeignKeys {
			ref := l.c.Relations[fk.RefTable]
			if len(fk.RefColumns) == 0 && ref != nil && ref.Primary != nil {
				fk.RefColumns = slices.Clone(ref.Primary.Columns)
			}
		}
		l.finishTriggers(r)
	}
	l.c.Hash = l.c.hash()
}

// finishColumn gives a column the default and the collation of its domain. A domain's NOT NULL does not make a column NOT NULL: PostgreSQL
// itself can store NULL in such a column (from an outer join or an empty scalar subquery).
func (l *loader) finishColumn(col *Column) {
	d, ok := l.domains[col.Type]
	if !ok {
		return
	}
	if col.Default == "" && !col.Identity && !col.Generated {
		col.Default, col.DefaultVolatile = d.def, d.defVolatile
	}
	if col.Collation == "" {
		col.Collation, col.NonDeterministic = d.collation, d.nonDeterministic
	}
}

// finishTriggers finds the functions of triggers, which may have been created in any schema.
func (l *loader) finishTriggers(r *Relation) {
	for i, t := range r.Triggers {
		if strings.Contains(t.Function, ".") {
			continue
		}
		for _, schema := range l.c.SearchPath {
			if key := Key(schema, t.Function); len(l.c.Functions[key]) > 0 {
				r.Triggers[i].Function = key
			}
		}
	}
}
