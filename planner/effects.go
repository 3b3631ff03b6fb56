package planner

import (
	"strings"
	"unicode/utf8"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
)

// effects is what a statement does beside reading rows, and where its tables live.
type effects struct {
	opaque    bool // a function whose body may touch any table
	onceCTE   bool // a volatile WITH query that is read more than once
	volatile  bool
	sequence  bool
	rowLock   bool
	home      bool // an advisory lock, or the session's state of a sequence: kept in one database
	system    bool // a system column in a condition
	currentOf bool
	sizes     []*facts.Expr // arguments of functions that measure a table

	sharded, local, reference, temp, undecided, catalog bool
	localTable, refTable                                string
}

// annotation finds what the candidate says about a function: by catalog key, or by bare name.
func (p *Planner) annotation(name string) (candidate.Function, bool) {
	if f, ok := p.cand.Functions[name]; ok {
		return f, true
	}
	if _, bare, ok := strings.Cut(name, "."); ok {
		f, ok := p.cand.Functions[bare]
		return f, ok
	}
	return candidate.Function{}, false
}

// scan looks at every expression of a query for effects.
func (j *judge) scan(q *facts.Query) {
	walkQuery(q, func(q *facts.Query) {
		for i := range q.Locks {
			j.seen.rowLock = true
			j.note(reason.RowLock, q.Locks[i].Pos, reason.Args{})
		}
		eachExpr(q, func(e *facts.Expr, p place) {
			walkExpr(e, func(x *facts.Expr) { j.scanExpr(x, p) })
		})
		if q.Write != nil {
			j.scanWrite(q.Write)
		}
	})
}

func (j *judge) scanExpr(e *facts.Expr, p place) {
	switch e.Op {
	case facts.Column:
		if e.System && systemColumn(e.Name) {
			j.note(reason.SystemColumn, e.Pos, reason.Args{Name: e.Name})
			j.seen.system = j.seen.system || p.clause == inWhere || p.clause == inOn
		}
	case facts.CurrentOf:
		j.seen.currentOf = true
		j.note(reason.Cursor, e.Pos, reason.Args{Name: e.Name})
	case facts.Call, facts.Aggregate, facts.Window, facts.Operator, facts.Opaque:
		j.scanCall(e)
	case facts.Compare, facts.AnyArray, facts.Cast:
		if e.Volatility == facts.VolUnknown {
			j.opaque(e)
		}
	}
}

func systemColumn(name string) bool {
	switch name {
	case "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid":
		return true
	}
	return false
}

func (j *judge) scanCall(e *facts.Expr) {
	if e.UDF {
		j.scanUDF(e)
		return
	}
	name := strings.TrimPrefix(e.Name, "pg_catalog.")
	switch {
	case e.Volatility == facts.VolUnknown:
		if f, ok := j.p.annotation(e.Name); ok {
			j.annotated(f, e)
			return
		}
		j.opaque(e)
		return
	case readsTables(name):
		j.opaque(e)
		return
	case name == "nextval" || name == "setval" || name == "currval" || name == "lastval":
		j.seen.sequence = true
		j.seen.home = j.seen.home || name != "nextval"
		j.note(reason.Sequence, e.Pos, reason.Args{})
	case strings.Contains(name, "advisory"):
		j.seen.home = true
		j.note(reason.AdvisoryLock, e.Pos, reason.Args{Function: name})
	case name == "pg_notify":
		j.note(reason.ListenNotify, e.Pos, reason.Args{})
	case sizeFunction(name) && len(e.Args) > 0:
		j.seen.sizes = append(j.seen.sizes, e.Args[0])
	}
	if e.Volatility == facts.Volatile && e.Op == facts.Call {
		j.seen.volatile = true
		if name != "nextval" && name != "setval" && !strings.Contains(name, "advisory") && name != "pg_notify" {
			j.note(reason.Volatile, e.Pos, reason.Args{Function: name})
		}
	}
}

func (j *judge) opaque(e *facts.Expr) {
	j.seen.opaque = true
	j.note(reason.OpaqueFunction, e.Pos, reason.Args{Function: strings.TrimPrefix(e.Name, "public.")})
}

// scanUDF decides about a function of the schema. IMMUTABLE is its owner's word that it reads no table, unless its body names one; a body
// that has nothing but builtin functions in it reads none either; for the rest the candidate has to say.
func (j *judge) scanUDF(e *facts.Expr) {
	if f, ok := j.p.annotation(e.Name); ok && (f.Known || f.Volatility == 'i') {
		j.annotated(f, e)
		return
	}
	overloads := j.p.cat.Functions[e.Name]
	if len(overloads) == 0 {
		j.opaque(e)
		return
	}
	for _, f := range overloads {
		if f.Volatility != 'i' && !f.Aggregate && !harmless(f) || j.p.namesTable(f.Body) {
			j.opaque(e)
			return
		}
		if f.Volatility == 'v' {
			j.seen.volatile = true
			j.note(reason.Volatile, e.Pos, reason.Args{Function: strings.TrimPrefix(e.Name, "public.")})
		}
	}
}

// annotated takes the candidate's word: the tables it names are read as a whole.
func (j *judge) annotated(f candidate.Function, e *facts.Expr) {
	j.seen.volatile = j.seen.volatile || f.Volatility == 'v'
	if !f.Known && f.Volatility != 'i' {
		j.opaque(e)
		return
	}
	for _, key := range f.Tables {
		j.place(j.p.cand.Table(key), key, false, false)
		if t := j.p.cand.Table(key); t.Placement == candidate.Sharded {
			j.occ = append(j.occ, &occurrence{in: &inst{src: &facts.Source{Table: key, Pos: e.Pos}, kind: instTable, table: t, rel: j.p.cat.Relations[key]}, lv: &level{}})
			j.note(reason.OpaqueFunction, e.Pos, reason.Args{Function: e.Name, Detail: "the candidate says that it uses " + key})
		}
	}
}

// readsTables tells builtin functions that run a query or read a table given by name.
func readsTables(name string) bool {
	switch name {
	case "query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "cursor_to_xml", "cursor_to_xmlschema", "table_to_xml",
		"table_to_xmlschema", "table_to_xml_and_xmlschema", "schema_to_xml", "schema_to_xmlschema", "schema_to_xml_and_xmlschema",
		"database_to_xml", "database_to_xmlschema", "database_to_xml_and_xmlschema", "ts_stat", "dblink", "dblink_exec":
		return true
	}
	return false
}

func sizeFunction(name string) bool {
	switch name {
	case "pg_total_relation_size", "pg_relation_size", "pg_table_size", "pg_indexes_size":
		return true
	}
	return false
}

// harmless reads a function's body: nothing but keywords of expressions, variables and builtin functions that touch no table. What it does
// not know makes the body opaque.
func harmless(f *catalog.Function) bool {
	if f.Body == "" || f.Language != "sql" && f.Language != "plpgsql" {
		return false
	}
	words, ok := bodyWords(f.Body)
	if !ok {
		return false
	}
	for i, w := range words {
		called := i+1 < len(words) && words[i+1] == "("
		switch {
		case w == "(":
		case called && !plainFunction(w) && !callLike(w):
			return false
		case bodyForbids(w):
			return false
		}
	}
	return true
}

// namesTable tells whether a body reads or writes one of the schema's relations by name, or runs text.
func (p *Planner) namesTable(body string) bool {
	words := strings.FieldsFunc(strings.ToLower(body), func(r rune) bool { return r != '.' && r < utf8.RuneSelf && !wordByte(byte(r)) })
	for i, w := range words {
		switch w {
		case "execute":
			return true
		case "from", "join", "into", "update", "only", "table":
			if i+1 < len(words) && p.names[bareName(words[i+1])] {
				return true
			}
		}
	}
	return false
}

// bodyWords splits a body into words in lower case and opening brackets; names of several parts keep their dots.
func bodyWords(s string) ([]string, bool) {
	var words []string
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 || strings.IndexByte(s[i:i+1+end], '\\') >= 0 {
				return nil, false
			}
			i += end + 2
		case c == '"' || c == '$' || c == '\\' || strings.HasPrefix(s[i:], "--") || strings.HasPrefix(s[i:], "/*"):
			return nil, false
		case wordByte(c):
			start := i
			for i < len(s) && (wordByte(s[i]) || s[i] == '.') {
				i++
			}
			words = append(words, strings.ToLower(s[start:i]))
		case c == '(':
			words = append(words, "(")
			i++
		default:
			i++
		}
	}
	return words, true
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func plainFunction(w string) bool {
	switch strings.TrimPrefix(w, "pg_catalog.") {
	case "floor", "ceil", "ceiling", "round", "trunc", "abs", "random", "mod", "power", "sqrt", "lower", "upper", "btrim", "ltrim", "rtrim", "trim",
		"length", "replace", "left", "right", "substr", "md5", "concat", "concat_ws", "split_part", "regexp_replace", "coalesce", "nullif",
		"greatest", "least", "now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "date_trunc", "date_part", "to_char",
		"current_setting", "gen_random_uuid", "encode", "decode", "initcap", "reverse", "repeat", "lpad", "rpad", "chr", "ascii":
		return true
	}
	return false
}

// callLike tells words that stand before a bracket without being functions.
func callLike(w string) bool {
	switch w {
	case "and", "or", "not", "in", "return", "select", "then", "else", "when", "case", "if", "elsif", "varchar", "numeric", "char", "as", "is", "=":
		return true
	}
	return len(w) > 0 && w[0] >= '0' && w[0] <= '9'
}

func bodyForbids(w string) bool {
	switch w {
	case "from", "into", "insert", "update", "delete", "merge", "perform", "execute", "call", "copy", "table", "with", "values", "lock", "truncate",
		"notify", "listen", "do", "create", "alter", "drop", "grant", "revoke", "for", "foreach", "loop", "while", "using", "join", "cursor", "open",
		"fetch", "close", "move", "commit", "rollback", "set", "reset", "refresh", "vacuum", "analyze", "raise", "get", "next", "query", "import":
		return true
	}
	return false
}

// scanWrite looks at what hangs on a written table: triggers, rules, row security.
func (j *judge) scanWrite(w *facts.Write) {
	rel := j.p.cat.Relations[w.Target.Table]
	if rel == nil {
		return
	}
	events := []string{w.Op}
	switch {
	case w.Op == "insert" && w.Conflict != nil && !w.Conflict.Nothing:
		events = append(events, "update")
	case w.Op == "merge":
		events = events[:0]
		for _, a := range w.Actions {
			events = append(events, a.Do)
		}
	}
	j.scanTriggers(rel, events, w.Target.Pos)
	for _, name := range rel.Rules {
		j.seen.opaque = true
		j.note(reason.Rule, w.Target.Pos, reason.Args{Table: rel.Key(), Name: name})
	}
}

func (j *judge) scanTriggers(rel *catalog.Relation, events []string, pos int) {
	for _, t := range rel.Triggers {
		fires := false
		for _, ev := range events {
			for _, on := range t.Events {
				fires = fires || ev == on
			}
		}
		if !fires {
			continue
		}
		if f, ok := j.p.annotation(t.Function); ok && f.Known && len(f.Tables) == 0 {
			continue
		}
		j.seen.opaque = true
		j.note(reason.Trigger, pos, reason.Args{Table: rel.Key(), Name: t.Name})
	}
}

// use takes stock of a table occurrence.
func (j *judge) use(lv *level, in *inst, s *scope) {
	j.place(in.table, in.src.Table, in.src.System, in.src.Temp)
	if rel := in.rel; rel != nil && rel.RowSecurity && len(rel.Policies) > 0 {
		j.seen.opaque = true
		j.note(reason.RowSecurity, in.src.Pos, reason.Args{Table: rel.Key(), Name: rel.Policies[0]})
	}
	if j.isSharded(in) {
		j.occ = append(j.occ, &occurrence{in: in, lv: lv, scope: s})
	}
}

// place notes where a table lives.
func (j *judge) place(t *candidate.Table, key string, system, temp bool) {
	switch {
	case system:
		j.seen.catalog, j.seen.local = true, true
		if j.seen.localTable == "" {
			j.seen.localTable = key
		}
	case temp:
		j.seen.temp = true
		j.note(reason.TempTable, -1, reason.Args{Table: key})
	case t.Placement == candidate.Sharded:
		j.seen.sharded = true
	case t.Placement == candidate.Reference:
		j.seen.reference = true
		j.seen.refTable = key
	case t.Placement == candidate.Unsharded:
		j.seen.local = true
		j.seen.localTable = key
	default:
		j.seen.undecided = true
		j.note(reason.UndecidedTable, -1, reason.Args{Table: key})
	}
}

// isSharded tells an occurrence of a sharded table.
func (j *judge) isSharded(in *inst) bool {
	return in.kind == instTable && in.table != nil && in.table.Placement == candidate.Sharded && !in.src.System && !in.src.Temp
}

// keyColumn is the position of the shard key in the occurrence's table: a partition may order its columns otherwise than its root.
func (in *inst) keyColumn() int {
	if in.rel == nil {
		return in.table.Col
	}
	if c := in.table.Col; c >= 0 && c < len(in.rel.Columns) && in.rel.Columns[c].Name == in.table.Column {
		return c
	}
	return in.rel.Column(in.table.Column)
}
