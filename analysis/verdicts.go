package analysis

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// hiddenPrefix begins the names of the entries that stand for executions without a template, one per reason.
const hiddenPrefix = "opaque/"

// stored is a template as the warehouse has it.
type stored struct {
	id, text, slots, search, verb string
	facts                         []byte           // of the catalog's schema and this version of facts; nil: to be extracted
	decoded                       *facts.Statement // while candidate after candidate judges it
}

// judged is what the analysis keeps of a verdict; it is what the cache holds.
type judged struct {
	Template        string        `cbor:"1,keyasint"`
	Class           string        `cbor:"2,keyasint"`
	Readiness       string        `cbor:"3,keyasint"`
	Tables          []string      `cbor:"4,keyasint"`
	Missing         []string      `cbor:"5,keyasint"`
	Features        []string      `cbor:"6,keyasint"`
	Reasons         []QueryReason `cbor:"7,keyasint"`
	Pairs           [][2]string   `cbor:"8,keyasint"`
	Keys            []boundKey    `cbor:"9,keyasint"`
	Write           bool          `cbor:"10,keyasint"` // of rows anywhere, unsharded tables included
	LayoutDependent bool          `cbor:"11,keyasint"`
	Lacking         []string      `cbor:"13,keyasint"` // features that the dialect does not have
	Bare            bool          `cbor:"12,keyasint"` // Keys name the slots of every key that the statement needs, see bareKeys
}

// boundKey is a value slot that holds the shard key of a table occurrence.
type boundKey struct {
	Colo  string  `cbor:"1,keyasint"`
	Slots []int64 `cbor:"2,keyasint"`
}

// judging is one function per candidate: from a template to its verdict. Tests replace it.
type judging func(t *stored) (*judged, error)

// loadTemplates reads all templates, sorted by ID. Two writers that met a template at the same time both
// wrote it, with the same content; that, and the order, is cheaper seen to here than in a query.
func loadTemplates(ctx context.Context, db *duck.DB) ([]*stored, error) {
	var out []*stored
	err := db.Each(ctx, query("templates.sql"), func(scan func(...any) error) error {
		t := &stored{}
		out = append(out, t)
		return scan(&t.id, &t.text, &t.slots, &t.search, &t.verb)
	})
	slices.SortFunc(out, func(a, b *stored) int { return cmp.Compare(a.id, b.id) })
	out = slices.CompactFunc(out, func(a, b *stored) bool { return a.id == b.id })
	return out, err
}

// loadFacts fills in the facts of templates sorted by ID.
func loadFacts(ctx context.Context, db *duck.DB, schema string, templates []*stored) error {
	var id, data sql.RawBytes
	return db.Each(ctx, query("facts.sql"), func(scan func(...any) error) error {
		if err := scan(&id, &data); err != nil {
			return err
		}
		i, ok := slices.BinarySearchFunc(templates, string(id), func(t *stored, id string) int { return strings.Compare(t.id, id) })
		if ok && templates[i].facts == nil {
			templates[i].facts = bytes.Clone(data)
		}
		return nil
	}, schema, facts.Version)
}

// hiddenVerdict is the verdict on executions whose text could not be read.
func hiddenVerdict(name string) *judged {
	code := reason.Unparsed
	if strings.TrimPrefix(name, hiddenPrefix) == "truncated" {
		code = reason.Truncated
	}
	r := reason.New(code, -1, reason.Args{})
	return &judged{Template: name, Class: string(planner.Unknown), Readiness: string(planner.UnknownReadiness),
		Reasons: []QueryReason{{Code: r.Code, Message: r.Message, Hint: r.Hint, Position: r.Position}}}
}

// plannerJudging judges with the planner: stored facts, or facts made anew from the template's text.
func plannerJudging(cat *catalog.Catalog, cand *candidate.Candidate) judging {
	p := planner.New(cat, cand)
	return func(t *stored) (*judged, error) {
		slots, err := sqltext.DecodeSlots(t.slots)
		if err != nil {
			return nil, err
		}
		st := t.statement(cat, slots)
		v := p.Judge(st, slots, nil)
		return keep(t, st, &v, slots, cat), nil
	}
}

// statement decodes the stored facts; without them, or with such as this program does not decode, it resolves the text again. It is kept until
// forget: a judge does not change it.
func (t *stored) statement(cat *catalog.Catalog, slots []sqltext.Slot) *facts.Statement {
	if t.decoded == nil && t.facts != nil {
		if st, err := facts.Decode(t.facts); err == nil {
			t.decoded = st
		}
	}
	if t.decoded == nil {
		t.decoded = t.resolve(cat, slots)
	}
	return t.decoded
}

func (t *stored) forget() { t.decoded = nil }

func (t *stored) resolve(cat *catalog.Catalog, slots []sqltext.Slot) *facts.Statement {
	return resolveStatement(&sqltext.Template{Text: t.text, Slots: slots}, t.search, cat)
}

// bareKeys says whether the values of the slots that the bindings of a multi_shard verdict name are all keys that its sharded tables are
// restricted to, so that equal values in them mean one shard. The planner gives that class only to statements of one layout whose every sharded
// table has a bounded set of keys, each set a binding; COPY is the exception, which has rows instead. A slot that holds an array is one value to
// the traffic and many to the statement, so that only scalars and lists that the template shows count.
func bareKeys(st *facts.Statement, v *planner.Verdict, slots []sqltext.Slot) bool {
	if v.Class != planner.MultiShard || st.Utility != nil || len(v.Bindings) == 0 || len(v.Colos) != 1 {
		return false
	}
	for _, k := range v.Bindings {
		if len(k.Slots) == 0 {
			return false
		}
		for _, s := range k.Slots {
			scalar := k.Source == "param" || k.Source == "const"
			if s < 1 || s > len(slots) || !slots[s-1].List && !scalar {
				return false
			}
		}
	}
	return true
}

// keep takes from a verdict what the analysis needs.
func keep(t *stored, st *facts.Statement, v *planner.Verdict, slots []sqltext.Slot, cat *catalog.Catalog) *judged {
	j := &judged{Template: t.id, Class: string(v.Class), Readiness: string(v.Readiness), Tables: slices.Clone(v.Tables),
		Features: v.Features, Pairs: v.CrossColo, Write: v.Write || writes(st), LayoutDependent: v.LayoutDependent}
	slices.Sort(j.Tables)
	j.Tables = slices.Compact(j.Tables)
	for _, r := range v.Reasons {
		j.Reasons = append(j.Reasons, QueryReason{Code: r.Code, Message: r.Message, Hint: r.Hint, Position: r.Position})
		if r.Code == reason.OutsideDialect {
			j.Lacking = append(j.Lacking, r.Name)
		}
	}
	for _, k := range v.Bindings {
		colo := k.Colo
		if colo == "" && len(v.Colos) == 1 {
			colo = v.Colos[0]
		}
		key := boundKey{Colo: colo}
		for _, s := range k.Slots {
			key.Slots = append(key.Slots, int64(s))
		}
		j.Keys = append(j.Keys, key)
	}
	j.Bare = bareKeys(st, v, slots)
	j.Missing = missingTables(st)
	return j
}
