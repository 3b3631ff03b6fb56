package fix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/impact"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/reason"
)

// places tries to put one table elsewhere.
func (s *search) places() {
	cand := s.p.Candidate()
	uses := planner.Tables(s.st)
	seen := map[string]bool{}
	for _, use := range uses {
		root := s.p.Catalog().Root(use.Table)
		if root == nil || seen[root.Key()] {
			continue
		}
		seen[root.Key()] = true
		now := cand.Table(root.Key())
		alone := len(uses) == 1 && now.Placement != candidate.Undecided
		for _, colo := range s.colos(now) {
			if !alone && !s.move(root, now, colo) {
				s.denormalise(root, now, colo)
			}
		}
		cross := now.Placement != candidate.Sharded || len(s.before.Colos) > 1
		if !use.Write && !alone && cross && now.Placement != candidate.Reference {
			s.put(root, now, candidate.Reference)
		}
		if now.Placement == candidate.Undecided {
			s.put(root, now, candidate.Unsharded)
		}
	}
	s.together()
}

// together tries to place all tables that the candidate does not name: in one colo, by the columns that are called like its key, or all unsharded.
func (s *search) together() {
	var keys []string
	for _, use := range planner.Tables(s.st) {
		if root := s.p.Catalog().Root(use.Table); root != nil && s.p.Candidate().Table(root.Key()).Placement == candidate.Undecided && !slices.Contains(keys, root.Key()) {
			keys = append(keys, root.Key())
		}
	}
	if len(keys) < 2 {
		return
	}
	for _, colo := range s.p.Candidate().Colos {
		cand, ok := s.p.Candidate(), true
		lines := "colos:\n  " + colo.Name + ":\n    tables:\n"
		for _, key := range keys {
			if ok {
				cand, ok = cand.Place(s.p.Catalog(), key, candidate.Table{Placement: candidate.Sharded, Colo: colo, Column: colo.KeyName})
			}
			lines += fmt.Sprintf("      %s: %s\n", yamlName(s.sqlName(key)), yamlName(candidate.WrittenName(colo.KeyName)))
		}
		if ok && s.offerPlace(cand, fmt.Sprintf("place %s in colo %s by column %s", tables(keys), named(colo.Name), named(colo.KeyName)), lines) {
			return
		}
	}
	cand, ok := s.p.Candidate(), true
	var names []string
	for _, key := range keys {
		if ok {
			cand, ok = cand.Place(s.p.Catalog(), key, candidate.Table{Placement: candidate.Unsharded})
		}
		names = append(names, yamlName(s.sqlName(key)))
	}
	if ok {
		s.offerPlace(cand, "leave "+tables(keys)+" on the original database", "unsharded: ["+strings.Join(names, ", ")+"]\n")
	}
}

func (s *search) offerPlace(cand *candidate.Candidate, change, yaml string) bool {
	v, ok := s.try(planner.New(s.p.Catalog(), cand), s.text, false)
	if ok {
		s.offer(planner.Fix{Kind: Place, Change: change, Candidate: yaml, Semantics: alone}, &v)
	}
	return ok
}

func tables(keys []string) string {
	var out []string
	for _, k := range keys {
		out = append(out, table(k))
	}
	return strings.Join(out, ", ")
}

// colos lists where a table may go: to the colos that the statement is in, or to any if it is in none.
func (s *search) colos(now *candidate.Table) []*candidate.Colo {
	var out []*candidate.Colo
	for _, c := range s.p.Candidate().Colos {
		if len(s.before.Colos) == 0 || slices.Contains(s.before.Colos, c.Name) || now.Placement == candidate.Sharded {
			out = append(out, c)
		}
	}
	return out
}

// columns lists the columns of a table that could hold a colo's key: the one called like it first, then those that refer to the colo's keys,
// then the others.
func (s *search) columns(rel *catalog.Relation, colo *candidate.Colo) []string {
	var like, refers, rest []string
	for i := range rel.Columns {
		c := &rel.Columns[i]
		switch {
		case candidate.Unfit(*c, colo.KeyType, s.p.Catalog()) != "" || c.Generated:
		case c.Name == colo.KeyName:
			like = append(like, c.Name)
		case s.refersToKey(rel, c.Name, colo):
			refers = append(refers, c.Name)
		default:
			rest = append(rest, c.Name)
		}
	}
	out := slices.Concat(like, refers, rest)
	return out[:min(len(out), 6)]
}

func (s *search) refersToKey(rel *catalog.Relation, column string, colo *candidate.Colo) bool {
	for _, fk := range rel.ForeignKeys {
		t := s.p.Candidate().Table(fk.RefTable)
		if i := slices.Index(fk.Columns, column); i >= 0 && i < len(fk.RefColumns) && t.Colo == colo && t.Column == fk.RefColumns[i] {
			return true
		}
	}
	return false
}

// move tries the columns of a table as its key in a colo.
func (s *search) move(rel *catalog.Relation, now *candidate.Table, colo *candidate.Colo) bool {
	for _, column := range s.columns(rel, colo) {
		if now.Colo == colo && now.Column == column {
			continue
		}
		cand, ok := s.p.Candidate().Place(s.p.Catalog(), rel.Key(), candidate.Table{Placement: candidate.Sharded, Colo: colo, Column: column})
		if !ok {
			continue
		}
		p := planner.New(s.p.Catalog(), cand)
		v, ok := s.try(p, s.text, false)
		if !ok {
			continue
		}
		kind := Move
		if now.Placement == candidate.Undecided {
			kind = Place
		}
		s.offer(planner.Fix{
			Kind: kind, Change: fmt.Sprintf("move %s%s to colo %s with shard key column %s", table(rel.Key()), from(now), named(colo.Name), named(column)),
			Candidate: coloYAML(colo, rel, column), Semantics: s.consequences(p, rel),
		}, &v)
		return true
	}
	return false
}

// from tells where a table is now.
func from(t *candidate.Table) string {
	switch {
	case t.Placement == candidate.Sharded && t.Colo != nil:
		return " from colo " + named(t.Colo.Name)
	case t.Placement == candidate.Undecided:
		return ""
	}
	return " from " + t.Placement.String() + ":"
}

// of tells where a table is that would become a reference table.
func of(t *candidate.Table) string {
	switch {
	case t.Placement == candidate.Sharded && t.Colo != nil:
		return " of colo " + named(t.Colo.Name)
	case t.Placement == candidate.Unsharded:
		return ", now unsharded,"
	}
	return ""
}

func coloYAML(colo *candidate.Colo, rel *catalog.Relation, column string) string {
	return fmt.Sprintf("colos:\n  %s:\n    tables:\n      %s: %s\n", colo.Name, yamlName(candidate.Written(rel)), yamlName(candidate.WrittenName(column)))
}

// yamlName quotes a name that SQL quotes, so that YAML keeps the quotes.
func yamlName(s string) string {
	if strings.Contains(s, `"`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// put tries a table as a reference table or on the original database.
func (s *search) put(rel *catalog.Relation, now *candidate.Table, to candidate.Placement) {
	cand, ok := s.p.Candidate().Place(s.p.Catalog(), rel.Key(), candidate.Table{Placement: to})
	if !ok {
		return
	}
	p := planner.New(s.p.Catalog(), cand)
	v, ok := s.try(p, s.text, false)
	if !ok || to == candidate.Reference && v.Readiness != planner.Ready {
		return
	}
	f := planner.Fix{Kind: Reference, Candidate: fmt.Sprintf("%s: [%s]\n", to, yamlName(candidate.Written(rel))), Change: fmt.Sprintf("make %s%s a reference table", table(rel.Key()), of(now))}
	f.Semantics = "right if it is small and hardly ever written, because each write goes to every shard; " + s.consequences(p, rel)
	if to == candidate.Unsharded {
		f.Change = fmt.Sprintf("leave %s on the original database", table(rel.Key()))
		f.Semantics = s.consequences(p, rel)
	}
	if now.Placement == candidate.Undecided {
		f.Kind = Place
	}
	s.offer(f, &v)
}

const alone = "judged for this statement only: compare the candidates over all traffic"

// consequences says what moving a table means beside this statement.
func (s *search) consequences(p *planner.Planner, rel *catalog.Relation) string {
	if s.broken == nil {
		s.broken = map[string]bool{}
		for _, f := range impact.Check(s.p.Catalog(), s.p.Candidate()) {
			if f.Severity == impact.Breaks {
				s.broken[f.Code+"\x00"+f.Table+"\x00"+f.Object] = true
			}
		}
	}
	var broken []string
	out := alone
	for _, f := range impact.Check(p.Catalog(), p.Candidate()) {
		if f.Severity != impact.Breaks || s.broken[f.Code+"\x00"+f.Table+"\x00"+f.Object] || f.Code == impact.Undecided {
			continue
		}
		if f.Code == reason.KeyNullable {
			out += "; column " + named(f.Object) + " must become NOT NULL"
			continue
		}
		broken = append(broken, f.Kind+" "+named(f.Object))
	}
	switch n := len(broken); {
	case n == 0:
		return out
	case n > 2:
		return out + fmt.Sprintf("; it breaks %s, %s and %d more of the schema", broken[0], broken[1], n-2)
	}
	return out + "; it breaks " + strings.Join(broken, " and ")
}

// denormalise tries a key column that the table does not have yet, tied to the key of another table of the statement.
func (s *search) denormalise(rel *catalog.Relation, now *candidate.Table, colo *candidate.Colo) {
	if now.Placement == candidate.Sharded && now.Colo == colo || rel.Column(colo.KeyName) >= 0 || len(s.occ) == 0 || rel.Kind == catalog.MaterializedView {
		return
	}
	cat := *s.p.Catalog()
	cat.Relations = maps.Clone(cat.Relations)
	for key, r := range s.p.Catalog().Relations {
		if root := s.p.Catalog().Root(key); root == nil || root.Key() != rel.Key() {
			continue
		}
		wide := *r
		wide.Columns = append(slices.Clone(r.Columns), catalog.Column{Name: colo.KeyName, Type: colo.KeyType, NotNull: true})
		cat.Relations[key] = &wide
	}
	cand, ok := s.p.Candidate().Place(&cat, rel.Key(), candidate.Table{Placement: candidate.Sharded, Colo: colo, Column: colo.KeyName})
	if !ok {
		return
	}
	p := planner.New(&cat, cand)
	column := ident(colo.KeyName)
	for _, lv := range s.levels {
		for _, it := range lv.items {
			if it.src == nil || it.target || it.src.Table == "" || lv.where == nil || s.p.Catalog().Root(it.src.Table).Key() != rel.Key() {
				continue
			}
			for _, other := range s.occ {
				if other.colo != colo || other == it || other.target || !s.belongs(it, other) {
					continue
				}
				pr := pred{on: it, with: other, text: it.name + "." + column + " = " + other.name + "." + other.column}
				text, v, ok := s.tryPreds(p, []pred{pr})
				if !ok {
					continue
				}
				s.offer(planner.Fix{
					Kind: Denormalise, SQL: s.write(p, []pred{pr}, text, &v), Candidate: coloYAML(colo, rel, colo.KeyName),
					Change: fmt.Sprintf("give %s the column %s (ALTER TABLE %s ADD COLUMN %s %s), place it in colo %s, and join on the shard key: %s",
						table(rel.Key()), named(colo.KeyName), candidate.Written(rel), column, sqlType(colo.KeyType), named(colo.Name), pr.text),
					Semantics: fmt.Sprintf("same result once each row of %s has the %s of its row in %s; %s", table(rel.Key()), named(colo.KeyName), other.label(), s.consequences(p, rel)),
				}, &v)
				return
			}
		}
	}
}

// belongs tells whether each row of an item's table has at most one row of another's: a foreign key says so, or the statement joins it to a
// unique column. Only then can the row carry the other's key.
func (s *search) belongs(it, other *item) bool {
	rel, up := s.relation(it.src.Table), s.relation(other.table)
	if rel == nil || up == nil || other.src.Kind != facts.FromTable {
		return false
	}
	if slices.ContainsFunc(rel.ForeignKeys, func(fk *catalog.ForeignKey) bool { return fk.RefTable == up.Key() }) {
		return true
	}
	for _, side := range equalities(it) {
		for _, u := range up.Uniques {
			if len(u.Columns) == 1 && u.Exprs == 0 && !u.Partial && other.owns(side[1], u.Columns[0]) && it.owns(side[0], columnName(side[0])) {
				return true
			}
		}
	}
	return false
}

func sqlType(canonical string) string {
	switch canonical {
	case "int8":
		return "bigint"
	case "int4":
		return "integer"
	case "int2":
		return "smallint"
	}
	return canonical
}

// dialect offers the features that the engine lacks for the statement.
func (s *search) dialect() {
	cand := s.p.Candidate()
	d := cand.Dialect
	if d.Features == nil {
		name := d.Name
		if name == "" {
			name = policy.DefaultDialect
		}
		var ok bool
		if d, ok = policy.Builtin(name); !ok {
			return
		}
	}
	missing := policy.Missing(string(s.before.Class), s.before.Features, s.before.Write, d)
	if len(missing) == 0 {
		return
	}
	next := policy.New(d.Name, append(slices.Clone(missing), slices.Sorted(maps.Keys(d.Features))...))
	v, ok := s.try(planner.New(s.p.Catalog(), cand.Speak(next)), s.text, false)
	if !ok {
		return
	}
	yaml := fmt.Sprintf("dialect: {base: %s, features: [%s]}\n", d.Name, strings.Join(missing, ", "))
	if _, ok := policy.Builtin(d.Name); !ok {
		yaml = fmt.Sprintf("dialect: {features: [%s]}\n", strings.Join(slices.Sorted(maps.Keys(next.Features)), ", "))
	}
	s.offer(planner.Fix{
		Kind: Dialect, Candidate: yaml, Change: fmt.Sprintf("teach the query engine %s, which dialect %s lacks", strings.Join(missing, ", "), named(d.Name)),
		Semantics: "same statement and result; the engine has to be able to do it",
	}, &v)
}
