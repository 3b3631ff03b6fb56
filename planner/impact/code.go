package impact

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/reason"
)

// effect is what is known of the tables that a function works on.
type effect struct {
	tables    []string // catalog keys, sorted
	dynamic   bool     // it builds statements at run time
	known     bool     // its body or its annotation says which tables
	annotated bool     // the candidate does
}

// list writes the tables for an annotation; dots stand for those that the body does not tell.
func (e *effect) list() string {
	switch {
	case e.known:
		return "[" + yamlList(e.tables) + "]"
	case len(e.tables) == 0:
		return "[...]"
	}
	return "[" + yamlList(e.tables) + ", ...]"
}

// effectOf looks into a function: what the candidate says of it, or the tables that its body and the functions it calls name.
func (c *checker) effectOf(f *catalog.Function) effect {
	var e effect
	found := map[string]bool{}
	e.known = c.lookInto(f, &e, found, map[*catalog.Function]bool{})
	e.tables = sortedKeys(found)
	return e
}

// lookInto adds a function's tables and reports whether all of them are known.
func (c *checker) lookInto(f *catalog.Function, e *effect, found map[string]bool, seen map[*catalog.Function]bool) bool {
	if seen[f] {
		return true
	}
	seen[f] = true
	if a, ok := c.annotation(catalog.Key(f.Schema, f.Name)); ok {
		for _, key := range a.Tables {
			found[key] = true
		}
		e.annotated = e.annotated || len(seen) == 1
		return true
	}
	tables, dynamic, err := c.bodyTables(f)
	if err != nil {
		return false
	}
	for _, key := range tables {
		found[key] = true
	}
	e.dynamic = e.dynamic || dynamic
	known := !dynamic
	calls, err := c.words.Calls(f.Body)
	if err != nil {
		return false
	}
	for _, key := range calls {
		for _, g := range c.cat.Functions[key] {
			known = c.lookInto(g, e, found, seen) && known
		}
	}
	return known
}

var errNoBody = errors.New("the function has no body of SQL")

func (c *checker) bodyTables(f *catalog.Function) (tables []string, dynamic bool, err error) {
	switch {
	case f.Body == "" || f.Aggregate:
	case f.Language == "sql":
		tables, missing, err := c.cat.TablesOf(f.Body, append(slices.Clone(f.Path), c.cat.SearchPath...))
		if err == nil && len(missing) > 0 {
			err = errNoBody
		}
		return tables, false, err
	case f.Language == "plpgsql":
		return c.words.Mentions(f.Body)
	}
	return nil, false, errNoBody
}

// annotation is what the candidate says of a function's tables.
func (c *checker) annotation(key string) (candidate.Function, bool) {
	_, bare, _ := strings.Cut(key, ".")
	for _, k := range []string{key, bare} {
		if a, ok := c.cand.Functions[k]; ok && a.Known {
			return a, true
		}
	}
	return candidate.Function{}, false
}

// places are where a list of tables lives.
type places struct {
	colos     []*candidate.Colo
	sharded   []string
	local     []string
	reference []string
}

func (c *checker) placesOf(tables []string) places {
	var out places
	for _, key := range tables {
		switch t := c.cand.Table(key); t.Placement {
		case candidate.Sharded:
			out.sharded = append(out.sharded, key)
			if !slices.Contains(out.colos, t.Colo) {
				out.colos = append(out.colos, t.Colo)
			}
		case candidate.Unsharded:
			out.local = append(out.local, key)
		case candidate.Reference:
			out.reference = append(out.reference, key)
		}
	}
	return out
}

// apart tells that no single database has all the tables.
func (p *places) apart() bool { return len(p.colos) > 1 || len(p.colos) > 0 && len(p.local) > 0 }

// text lists the tables by place.
func (c *checker) text(tables []string) string {
	by := map[string][]string{}
	for _, key := range tables {
		w := where(c.cand.Table(key))
		by[w] = append(by[w], name(key))
	}
	var out []string
	for _, w := range sortedKeys(by) {
		out = append(out, strings.Join(by[w], ", ")+" ("+w+")")
	}
	return strings.Join(out, "; ")
}

// view checks what a view reads. A plain view is judged with each query that uses it; here only what no query of it can avoid is told.
func (c *checker) view(p *place) {
	f := Finding{Code: ViewCrossPlace, Severity: Breaks, Object: p.rel.Key(), Kind: p.rel.Kind.String()}
	path := append([]string{}, p.rel.ViewPath...)
	tables, missing, err := c.cat.TablesOf(p.rel.ViewSQL, path)
	if err != nil || len(missing) > 0 {
		f.Code, f.Severity = ViewUnread, Weakens
		f.Why, f.Repair = "its query cannot be read, so what it touches is unknown", "load the schema from a server's dump"
		if err == nil {
			f.Why = "it reads " + strings.Join(missing, ", ") + ", which the schema lacks"
		}
		c.add(p, f)
	}
	at := c.placesOf(tables)
	switch materialized := p.rel.Kind == catalog.MaterializedView; {
	case materialized && len(at.sharded) > 0:
		f.Code, f.Severity = MaterializedView, Breaks
		f.Why = "REFRESH reads " + names(at.sharded) + " from all shards and stores the rows in one place"
		f.Repair = "keep it as a table that a job fills from the shards, or compute it in the warehouse"
	case at.apart():
		f.Code, f.Severity = ViewCrossPlace, Breaks
		f.Why = "it reads tables that no database has together: " + c.text(tables)
		f.Repair = "split it by place and join in the application" + c.nearer(&at)
	default:
		return
	}
	c.add(p, f)
}

// nearer proposes an edit of the candidate that would bring tables together.
func (c *checker) nearer(at *places) string {
	if len(at.colos) == 1 && len(at.local) > 0 {
		return "; or list " + yamlList(at.local) + " under reference: if small and seldom written"
	}
	return ""
}

// functions checks the functions and procedures of the schema whose tables are sharded; trigger functions are told with their triggers.
func (c *checker) functions() {
	for _, key := range sortedKeys(c.cat.Functions) {
		for _, fn := range c.cat.Functions[key] {
			if fn.Aggregate || fn.Returns == "trigger" || fn.Returns == "event_trigger" {
				continue
			}
			if f, ok := c.function(key, fn); ok {
				c.out = append(c.out, f)
			}
		}
	}
}

func (c *checker) function(key string, fn *catalog.Function) (Finding, bool) {
	e := c.effectOf(fn)
	at := c.placesOf(e.tables)
	f := Finding{Object: name(key) + "(" + strings.Join(fn.Args, ", ") + ")", Kind: "function", Line: fn.Line}
	if fn.Procedure {
		f.Kind = "procedure"
	}
	annotate := fmt.Sprintf("annotate it in the candidate: functions: {%s: {volatility: %s, tables: %s}}", yaml(key), volatilityWord(fn.Volatility), e.list())
	switch {
	case at.apart():
		f.Code, f.Severity = FunctionPlaces, Breaks
		f.Why = "it works on tables that no database has together: " + c.text(e.tables)
		f.Repair = "move its statements into the application, one place at a time"
	case len(at.sharded) > 0 && e.annotated:
		return f, false
	case len(at.sharded) > 0:
		f.Code, f.Severity = reason.OpaqueFunction, Weakens
		f.Why = "it works on " + c.text(at.sharded) + " and sees the rows of the shard it is called on only"
		f.Repair = annotate + ", or move its statements into the application"
	case e.dynamic:
		f.Code, f.Severity = DynamicSQL, Weakens
		f.Why = "it builds statements at run time, so its tables are not known"
		f.Repair = annotate
	default:
		return f, false
	}
	if e.dynamic && f.Code != DynamicSQL {
		f.Why += "; it also builds statements at run time"
	}
	return f, true
}

func volatilityWord(v byte) string {
	switch v {
	case 'i':
		return "immutable"
	case 's':
		return "stable"
	}
	return "volatile"
}

// rowTriggers are builtin trigger functions that look at the row alone: src/include/catalog/pg_proc.dat.
func rowTrigger(function string) bool {
	switch function {
	case "suppress_redundant_updates_trigger", "tsvector_update_trigger", "tsvector_update_trigger_column":
		return true
	}
	return false
}

// triggers checks the code that runs with each write.
func (c *checker) triggers(p *place) {
	parent := c.parent(p)
	for _, t := range p.rel.Triggers {
		if parent != nil && slices.ContainsFunc(parent.Triggers, func(o catalog.Trigger) bool { return o.Name == t.Name }) || rowTrigger(t.Function) {
			continue
		}
		if f, ok := c.trigger(p, t); ok {
			c.add(p, f)
		}
	}
}

func (c *checker) trigger(p *place, t catalog.Trigger) (Finding, bool) {
	e := c.triggerEffect(t)
	var others []string // a trigger may well name the table it stands on
	for _, key := range e.tables {
		if key != p.rel.Key() {
			others = append(others, key)
		}
	}
	at := c.placesOf(e.tables)
	f := Finding{Code: reason.Trigger, Severity: Weakens, Object: t.Name, Kind: "trigger", Line: t.Line}
	f.Repair = fmt.Sprintf("annotate its function in the candidate: functions: {%s: {tables: %s}}", yaml(t.Function), e.list())
	switch {
	case p.Placement == candidate.Unsharded && len(at.sharded) > 0:
		f.Severity = Breaks
		f.Why = fmt.Sprintf("%s works on tables that the original database no longer has: %s", name(t.Function), c.text(at.sharded))
		f.Repair = "move what it does into the application, or into a job that reads an outbox"
	case p.Placement == candidate.Unsharded && !e.known:
		f.Severity = Info
		f.Why = fmt.Sprintf("what %s touches is not known; sharded tables are no longer beside it", name(t.Function))
	case p.Placement == candidate.Unsharded:
		return f, false
	case !e.known:
		f.Why = fmt.Sprintf("it calls %s on the shard of the row; what that touches is not known", name(t.Function))
	case p.sharded() && (len(at.local) > 0 || slices.ContainsFunc(at.colos, func(o *candidate.Colo) bool { return o != p.Colo })),
		p.reference() && len(at.local)+len(at.sharded) > 0:
		f.Severity = Breaks
		f.Why = fmt.Sprintf("%s works on tables that the shard of the row does not have: %s", name(t.Function), c.text(e.tables))
		f.Repair = "move what it does into the application, or into a job that reads an outbox"
	case p.reference():
		f.Why = fmt.Sprintf("%s runs once for every copy: what it computes can differ, and what it does happens many times", name(t.Function))
		f.Repair = "compute in the application, and drop the trigger"
	case len(others) > 0:
		f.Why = fmt.Sprintf("%s works on %s and sees the rows of its own shard only", name(t.Function), c.text(others))
		if e.annotated {
			f.Severity = Info
			f.Repair = ""
		}
	case e.annotated:
		return f, false
	default:
		f.Severity = Info
		f.Why = fmt.Sprintf("%s names no other table, so it works on a shard as it does now", name(t.Function))
	}
	return f, true
}

// triggerEffect is the effect of a trigger's function; trigger functions have no overloads.
func (c *checker) triggerEffect(t catalog.Trigger) effect {
	if fs := c.cat.Functions[t.Function]; len(fs) > 0 {
		return c.effectOf(fs[0])
	}
	if a, ok := c.annotation(t.Function); ok {
		return effect{tables: a.Tables, known: true, annotated: true}
	}
	return effect{}
}

func (c *checker) rules(p *place) {
	for _, r := range p.rel.Rules {
		c.add(p, Finding{Code: reason.Rule, Severity: Weakens, Object: r, Kind: "rule",
			Why: "it rewrites statements on " + table(p.rel) + "; rules are not followed here, so those statements are unknown", Repair: fmt.Sprintf("DROP RULE %s ON %s, and use a trigger or the application", ident(r), table(p.rel))})
	}
}

// policies checks what the conditions read that PostgreSQL adds to every statement on a table.
func (c *checker) policies(p *place) {
	if p.rel.Partition || !p.rel.RowSecurity && len(p.rel.Policies) == 0 {
		return
	}
	if len(p.rel.Policies) == 0 {
		c.add(p, Finding{Code: reason.RowSecurity, Severity: Info, Object: p.rel.Key(), Kind: "row level security",
			Why: "it is on without a policy: only the owner and roles that bypass it see rows, on every shard"})
		return
	}
	for _, policy := range p.rel.Policies {
		c.add(p, c.policy(p, policy))
	}
}

func (c *checker) policy(p *place, policy string) Finding {
	f := Finding{Code: reason.RowSecurity, Severity: Weakens, Object: policy, Kind: "policy"}
	e := c.policyEffect(p.rel, policy)
	var others []string
	for _, key := range e.tables {
		if key != p.rel.Key() {
			others = append(others, key)
		}
	}
	at := c.placesOf(others)
	elsewhere := p.sharded() && slices.ContainsFunc(at.colos, func(o *candidate.Colo) bool { return o != p.Colo }) || p.reference() && len(at.sharded) > 0 || len(at.local) > 0
	switch {
	case elsewhere:
		f.Severity = Breaks
		f.Why = "it reads tables that the shard of the row does not have: " + c.text(others)
		f.Repair = fmt.Sprintf("DROP POLICY %s ON %s, and let it compare columns of %s with a session setting", ident(policy), table(p.rel), table(p.rel))
	case !e.known:
		f.Why = "what it reads is not known; each shard can only read its own tables, reference tables and session settings"
		f.Repair = "check that it reads nothing else"
	case len(at.sharded) > 0:
		f.Why = "it reads " + c.text(at.sharded) + " and sees the rows of its own shard only"
		f.Repair = "check that the rows it reads have the same shard key as the row it guards"
	default:
		f.Severity = Info
		f.Why = "it works on a shard as it does now, if roles and settings that it reads are set on every shard's session"
	}
	return f
}

// policyEffect is what a policy's expressions read, with the functions that they call.
func (c *checker) policyEffect(r *catalog.Relation, policy string) effect {
	sql, ok := r.PolicySQL[policy]
	tables, missing, err := c.cat.TablesOf(sql, nil)
	if !ok || err != nil || len(missing) > 0 {
		return effect{}
	}
	e := effect{known: true}
	found := map[string]bool{}
	for _, key := range tables {
		found[key] = true
	}
	calls, err := c.words.Calls(sql)
	if err != nil {
		return effect{}
	}
	seen := map[*catalog.Function]bool{}
	for _, key := range calls {
		for _, fn := range c.cat.Functions[key] {
			e.known = c.lookInto(fn, &e, found, seen) && e.known
		}
	}
	e.tables = sortedKeys(found)
	return e
}

// extensions lists what has to be installed on every shard, and the tables that a dump does not show.
func (c *checker) extensions() {
	if len(c.cand.Colos) == 0 {
		return
	}
	for _, ext := range sortedKeys(c.cat.Extensions) {
		if ext == "plpgsql" {
			continue // every database has it
		}
		f := Finding{Code: Extension, Severity: Info, Object: ext, Kind: "extension", Line: c.cat.Extensions[ext],
			Why: "every shard needs it, in the same version", Repair: "CREATE EXTENSION " + ident(ext) + " on every shard"}
		if tables := extensionTables(ext); tables != "" {
			f.Severity = Weakens
			f.Why += "; it keeps rows in " + tables + ", which the schema does not show and the candidate cannot place"
		}
		c.out = append(c.out, f)
	}
}

// extensionTables are the tables of common extensions: pg_dump leaves them out, because CREATE EXTENSION makes them.
func extensionTables(ext string) string {
	switch ext {
	case "postgis":
		return "spatial_ref_sys"
	case "postgis_topology":
		return "topology.topology, topology.layer"
	case "postgis_tiger_geocoder":
		return "the tables of schema tiger"
	case "pg_cron":
		return "cron.job"
	case "pg_partman":
		return "part_config, part_config_sub"
	case "pgq":
		return "the tables of schema pgq"
	case "pgmq":
		return "the tables of schema pgmq"
	case "timescaledb":
		return "the tables of its own schemas, the chunks of hypertables among them"
	}
	return ""
}
