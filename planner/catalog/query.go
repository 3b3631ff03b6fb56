package catalog

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/sqlast"
)

// TablesOf returns the catalog keys of the tables that the statements of a text name, views followed down to their tables, sorted. missing are
// the names that the schema lacks; those of pg_catalog and information_schema are not among them. A nil path is the catalog's own. The
// error is the parser's.
//
// A name that is a CTE of the text as well counts as a table if there is one: too much rather than too little.
func (c *Catalog) TablesOf(text string, path []string) (tables, missing []string, err error) {
	w := c.tableWalk()
	if err := w.text(text, path); err != nil {
		return nil, nil, err
	}
	return sorted(w.found), sorted(w.missing), nil
}

type tableWalk struct {
	c                     *Catalog
	found, missing, views map[string]bool
}

func (c *Catalog) tableWalk() *tableWalk {
	return &tableWalk{c: c, found: map[string]bool{}, missing: map[string]bool{}, views: map[string]bool{}}
}

func (w *tableWalk) text(text string, path []string) error {
	stmts, err := sqlast.Parse(text)
	if err != nil {
		return err
	}
	for _, raw := range stmts {
		if err := w.statement(raw.GetStmt(), path); err != nil {
			return err
		}
	}
	return nil
}

func (w *tableWalk) statement(stmt *sqlast.Node, path []string) error {
	ctes, names := map[string]bool{}, []*sqlast.RangeVar{}
	sqlast.Walk(stmt, func(n *sqlast.Node) bool {
		ctes[n.GetCommonTableExpr().GetCtename()] = true
		for _, rv := range []*sqlast.RangeVar{n.GetRangeVar(), n.GetInsertStmt().GetRelation(), n.GetUpdateStmt().GetRelation(), n.GetDeleteStmt().GetRelation(), n.GetMergeStmt().GetRelation()} {
			if rv != nil {
				names = append(names, rv)
			}
		}
		return true
	})
	for _, rv := range names {
		r := w.c.Relation(path, rv.GetSchemaname(), rv.GetRelname())
		if r != nil {
			if err := w.relation(r); err != nil {
				return err
			}
			continue
		}
		cte := rv.GetSchemaname() == "" && ctes[rv.GetRelname()]
		if !cte && !systemRelation(rv) {
			w.missing[shown(rv)] = true
		}
	}
	return nil
}

// systemRelation tells the server's own tables and views, which every database has.
func systemRelation(rv *sqlast.RangeVar) bool {
	switch rv.GetSchemaname() {
	case "pg_catalog", "information_schema":
		return true
	}
	return rv.GetSchemaname() == "" && strings.HasPrefix(rv.GetRelname(), "pg_")
}

// relation adds a table, or what a view reads. Each is visited once, so that views which read each other come to an end.
func (w *tableWalk) relation(r *Relation) error {
	if r.Kind != View {
		w.found[r.Key()] = true
		return nil
	}
	if w.views[r.Key()] {
		return nil
	}
	w.views[r.Key()] = true
	return w.text(r.ViewSQL, viewPath(r))
}

// viewPath is the search_path of a view's query: never nil, because an empty one does not stand for the catalog's own.
func viewPath(r *Relation) []string { return append([]string{}, r.ViewPath...) }

// Words reads the bodies of functions in languages with SQL inside word by word, where no parser of theirs is at hand. It is a guess that errs
// towards too much: a column that is called like a table counts.
type Words struct {
	c         *Catalog
	relations map[string][]*Relation // by name
	functions map[string][]string    // by name: keys
}

// Words indexes the catalog's names, once for all bodies.
func (c *Catalog) Words() *Words {
	w := &Words{c: c, relations: map[string][]*Relation{}, functions: map[string][]string{}}
	for _, key := range sorted(c.Relations) {
		r := c.Relations[key]
		w.relations[r.Name] = append(w.relations[r.Name], r)
	}
	for _, key := range sorted(c.Functions) {
		name := c.Functions[key][0].Name
		w.functions[name] = append(w.functions[name], key)
	}
	return w
}

// Mentions returns the tables whose names occur in a body, views followed down to their tables, sorted. dynamic tells that the body builds
// statements at run time. The error says that the body has no words to read.
func (w *Words) Mentions(body string) (tables []string, dynamic bool, err error) {
	tokens, err := sqlast.Scan(body)
	if err != nil {
		return nil, false, err
	}
	walk := w.c.tableWalk()
	for i, t := range tokens {
		dynamic = dynamic || t.Name == "EXECUTE"
		schema, name := wordAt(body, tokens, i)
		same := w.relations[name]
		for _, r := range same {
			other := schema != "" && schema != r.Schema && slices.ContainsFunc(same, func(o *Relation) bool { return o.Schema == schema })
			if other {
				continue
			}
			if err := walk.relation(r); err != nil {
				return nil, dynamic, err
			}
		}
	}
	return sorted(walk.found), dynamic, nil
}

// Calls returns the keys of the schema's functions that a body calls, sorted.
func (w *Words) Calls(body string) ([]string, error) {
	tokens, err := sqlast.Scan(body)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for i := range tokens {
		if i+1 == len(tokens) || tokens[i+1].Name != "ASCII_40" {
			continue
		}
		schema, name := wordAt(body, tokens, i)
		if keys := w.functions[name]; schema != "" && slices.Contains(keys, Key(schema, name)) {
			found[Key(schema, name)] = true
		} else {
			for _, key := range keys {
				found[key] = true
			}
		}
	}
	return sorted(found), nil
}

// wordAt is the word at a token as PostgreSQL stores it, and the word before the dot in front of it.
func wordAt(body string, tokens []sqlast.Token, i int) (schema, name string) {
	if i > 1 && tokens[i-1].Name == "ASCII_46" {
		schema = stored(body[tokens[i-2].Start:tokens[i-2].End])
	}
	return schema, stored(body[tokens[i].Start:tokens[i].End])
}

func stored(word string) string {
	if len(word) > 1 && word[0] == '"' {
		return strings.ReplaceAll(word[1:len(word)-1], `""`, `"`)
	}
	return strings.ToLower(word)
}

// stableBuiltins are the builtin functions that give one value for a transaction or statement, and that people use in defaults.
var stableBuiltins = func() map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(`now transaction_timestamp statement_timestamp current_setting current_database current_schema
		current_schemas current_query inet_client_addr inet_server_addr inet_client_port inet_server_port pg_current_snapshot
		txid_current_snapshot pg_postmaster_start_time version`) {
		m[f] = true
	}
	return m
}()

// Volatility says what a default's or generated column's expression is made of: 'v' if it holds a function that gives another value for each
// row, 's' one that depends on the time, the session or the database, 'i' neither. A builtin that this package does not list is taken for 'i',
// a function of an extension under its schema's name for 'v'. An expression that cannot be read is 'v'.
func (c *Catalog) Volatility(expr string) byte {
	if expr == "" {
		return 'i'
	}
	stmts, err := sqlast.Parse("SELECT " + expr)
	if err != nil || len(stmts) != 1 {
		return 'v'
	}
	l := &loader{c: c, path: c.SearchPath}
	out := byte('i')
	sqlast.Walk(stmts[0].GetStmt(), func(n *sqlast.Node) bool {
		switch call := n.GetFuncCall(); {
		case call != nil && l.volatileCall(strs(call.GetFuncname())):
			out = 'v'
		case out == 'v':
		case n.GetSqlvalueFunction() != nil, call != nil && l.stableCall(strs(call.GetFuncname())):
			out = 's'
		}
		return true
	})
	return out
}

func (l *loader) stableCall(names []string) bool {
	name := last(names)
	if len(names) > 1 && names[len(names)-2] != "pg_catalog" {
		return anyStable(l.c.Functions[Key(names[len(names)-2], name)])
	}
	for _, schema := range append(slices.Clone(l.path), "public") {
		if fs := l.c.Functions[Key(schema, name)]; len(names) == 1 && len(fs) > 0 {
			return anyStable(fs)
		}
	}
	return stableBuiltins[name]
}

func anyStable(fs []*Function) bool {
	return slices.ContainsFunc(fs, func(f *Function) bool { return f.Volatility == 's' })
}
