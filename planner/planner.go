package planner

import (
	"fmt"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Planner judges statements under one candidate over one catalog. It is immutable and safe for concurrent use.
type Planner struct {
	cat     *catalog.Catalog
	cand    *candidate.Candidate
	dialect policy.Dialect
	names   map[string]bool // bare names of the catalog's relations, in lower case
}

// New binds a planner to a catalog and a candidate that was bound to the same catalog.
func New(cat *catalog.Catalog, cand *candidate.Candidate) *Planner {
	p := &Planner{cat: cat, cand: cand, dialect: dialectOf(cand), names: make(map[string]bool, len(cat.Relations))}
	for _, rel := range cat.Relations {
		p.names[strings.ToLower(rel.Name)] = true
	}
	return p
}

// Catalog returns the catalog the planner judges over.
func (p *Planner) Catalog() *catalog.Catalog { return p.cat }

// Candidate returns the candidate the planner judges under.
func (p *Planner) Candidate() *candidate.Candidate { return p.cand }

// Value is the value of one template slot.
type Value struct {
	Kind sqltext.Kind // 0: the value is not known
	Text string       // of a String without its quotes and escapes; of a bind in PostgreSQL's text form
	Null bool         // a bind that is NULL
	Type string       // of a bind: the declared canonical type, "" where the context decides
	List []Value      // of a folded list: two or more elements
}

// Values binds the slots of a template to values: Slots[0] is $1.
type Values struct {
	Slots []Value
	// Binds says that values of bind parameters decide the class too, as a router needs it for one execution. Without it a parameter stays a
	// symbol, because a class holds for every execution of the statement as written; its value only tells the shard.
	Binds bool
}

// Judge returns the verdict on a statement. slots describes the template's slots: those that share a Bind number are one value, also literals
// that a caller knows to be equal in every execution. It may be nil. With vals nil the verdict holds for all values. A defect of the planner on one statement is the verdict unknown.
func (p *Planner) Judge(st *facts.Statement, slots []sqltext.Slot, vals *Values) (v Verdict) {
	defer func() {
		if r := recover(); r != nil {
			v = p.unknown(reason.Internal, fmt.Sprint(r))
		}
	}()
	j := &judge{p: p, st: st, slots: slots, vals: vals}
	return j.statement()
}

// unknown is the verdict on a statement that never became facts: unparsed, truncated, too deep, or a defect of the planner.
func (p *Planner) unknown(code reason.Code, detail string) Verdict {
	return Verdict{
		Class: Unknown, Readiness: UnknownReadiness, Shards: ShardSet{Kind: "all"},
		Reasons: []reason.Reason{reason.New(code, -1, reason.Args{Detail: detail})},
	}
}

// Unparsed is the verdict on a text that has no facts. code is one of the registry's: unparsed, truncated, too_deep.
func (p *Planner) Unparsed(code reason.Code, detail string) Verdict { return p.unknown(code, detail) }

func dialectOf(c *candidate.Candidate) policy.Dialect {
	d := policy.Dialect{Name: c.Dialect.Name, Features: c.Dialect.Features}
	if d.Features == nil {
		name := d.Name
		if name == "" {
			name = policy.DefaultDialect
		}
		d, _ = policy.Builtin(name)
	}
	return d
}
