package analysis

import (
	"context"
	"fmt"
	"slices"

	"github.com/foreshard/foreshard/planner"
)

// shapeStatement is one distinct statement of a transaction's shape, as the signatures table has it.
type shapeStatement struct {
	template string
	repeated bool
	slots    []int64
	symbols  []int64
}

// symbols of a slot, beside the numbers of values from 1.
const (
	noValue    = 0
	manyValues = -1
)

// shape is transactions of one signature with the same flags.
type shape struct {
	signature                           string
	explicit, partial, hidden, overflow bool
	count                               int64
}

// outcome is where a transaction runs.
type outcome uint8

const (
	txnUnknown outcome = iota
	txnSingle
	txnMultiRead
	txnMultiWrite
)

// loadShapes reads the transactions and the statements of their signatures.
func (b *builder) loadShapes(ctx context.Context) error {
	err := b.db.Each(ctx, query("shapes.sql"), func(scan func(...any) error) error {
		var s shape
		err := scan(&s.signature, &s.explicit, &s.partial, &s.hidden, &s.overflow, &s.count)
		b.shapes = append(b.shapes, s)
		return err
	})
	if err != nil {
		return err
	}
	b.signatures = map[string][]shapeStatement{}
	return b.db.Each(ctx, query("signatures.sql"), func(scan func(...any) error) error {
		var id string
		var position int64
		var s shapeStatement
		var slots, symbols any
		if err := scan(&id, &position, &s.template, &s.repeated, &slots, &symbols); err != nil {
			return err
		}
		list := b.signatures[id]
		if position >= 0 {
			var err1, err2 error
			s.slots, err1 = integers(slots)
			s.symbols, err2 = integers(symbols)
			if err1 != nil || err2 != nil || len(s.slots) != len(s.symbols) {
				return fmt.Errorf("signature %s: its slots and symbols do not read", id)
			}
			list = append(list, s)
		}
		b.signatures[id] = list
		return nil
	})
}

// integers and texts read a list column.
func integers(v any) ([]int64, error) { return listOf[int64](v) }
func texts(v any) ([]string, error)   { return listOf[string](v) }

func listOf[T any](v any) ([]T, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("read list: got %T", v)
	}
	out := make([]T, len(list))
	for i, e := range list {
		if out[i], ok = e.(T); !ok {
			return nil, fmt.Errorf("read list element: got %T", e)
		}
	}
	return out, nil
}

// transactions counts the shapes by where they run under one candidate.
func (b *builder) transactions(verdicts map[string]*judged) (Transactions, error) {
	var out Transactions
	for _, s := range b.shapes {
		statements, ok := b.signatures[s.signature]
		if !ok {
			return out, fmt.Errorf("signature %s has transactions and no statements: the warehouse is damaged", s.signature)
		}
		where, dependent := s.judge(statements, verdicts)
		out.Total += s.count
		switch where {
		case txnSingle:
			out.SingleShard += s.count
			if dependent {
				out.ParamDependent += s.count
			}
		case txnMultiRead:
			out.MultiShardRead += s.count
		case txnMultiWrite:
			out.MultiShardWrite += s.count
		default:
			out.Unknown += s.count
		}
		if s.explicit {
			out.Explicit += s.count
			if where == txnSingle {
				out.ExplicitSingle += s.count
			}
		}
	}
	return out, nil
}

// places collects what a transaction touches.
type places struct {
	known    []string // one per key value and layout, and one for the unsharded database
	written  []string
	unnamed  int // executions, at least, on one shard each whose key value is not known
	unwrites int // of them writes
	multi    bool
	writes   bool // a statement that is multi by itself writes
	observed bool // take a multi_shard statement to be where its values were
	depends  bool // one was
}

// unshardedPlace is no name of a colo.
const unshardedPlace = "\x00unsharded"

// judge tells where a transaction runs. It is on one shard iff all its sharded statements are, in one layout and with one key value; it is a
// multi-shard write if it writes in more than one place, so that its commit needs two phases. dependent says that it is on one shard only because
// lists of keys had one value each time.
func (s *shape) judge(statements []shapeStatement, verdicts map[string]*judged) (where outcome, dependent bool) {
	if s.hidden || s.overflow {
		return txnUnknown, false
	}
	where, _ = s.place(statements, verdicts, false)
	if where == txnMultiRead || where == txnMultiWrite {
		if seen, depends := s.place(statements, verdicts, true); seen == txnSingle && depends {
			where, dependent = seen, true
		}
	}
	if s.partial && where != txnMultiWrite {
		return txnUnknown, false // what was not seen could make it worse
	}
	return where, dependent
}

// place puts the statements together.
func (s *shape) place(statements []shapeStatement, verdicts map[string]*judged, observed bool) (where outcome, depends bool) {
	p := places{observed: observed}
	for i := range statements {
		v := verdicts[statements[i].template]
		if v == nil || !p.add(&statements[i], v) {
			return txnUnknown, false
		}
	}
	return p.outcome(), p.depends
}

// add takes one statement; false: it is not known where it runs.
func (p *places) add(st *shapeStatement, v *judged) bool {
	switch planner.Class(v.Class) {
	case planner.None, planner.Session, planner.Reference:
	case planner.Unsharded:
		p.at(unshardedPlace, v.Write)
	case planner.SingleShard:
		p.single(st, v)
	case planner.MultiShard, planner.Scatter, planner.MultiPhase, planner.Broadcast, planner.Reject:
		if symbol := st.onlyKey(v); p.observed && symbol > 0 {
			p.at(fmt.Sprintf("%s\x00%d", v.Keys[0].Colo, symbol), v.Write)
			p.depends = true
			break
		}
		p.multi = true
		p.writes = p.writes || v.Write
	default:
		return false
	}
	return true
}

// single takes a statement whose every execution is on one shard.
func (p *places) single(st *shapeStatement, v *judged) {
	switch colo, symbol := st.key(v); {
	case symbol > 0:
		p.at(fmt.Sprintf("%s\x00%d", colo, symbol), v.Write)
	case symbol == manyValues:
		p.multi = true
		p.writes = p.writes || v.Write
	default:
		n := 1
		if st.repeated {
			n = 2
		}
		p.unnamed += n
		if v.Write {
			p.unwrites += n
		}
	}
}

// key finds the symbol of a statement's shard key. Every table occurrence of a single-shard statement is bound to the same shard, so any
// binding that has a value will do.
func (st *shapeStatement) key(v *judged) (colo string, symbol int64) {
	for _, k := range v.Keys {
		for _, slot := range k.Slots {
			i := slices.Index(st.slots, slot)
			if i < 0 || st.symbols[i] == noValue {
				continue
			}
			if colo, symbol = k.Colo, st.symbols[i]; symbol > 0 {
				return colo, symbol
			}
		}
	}
	return colo, symbol
}

// onlyKey is the symbol that every slot of a multi_shard statement's keys had in every execution; 0 if there is no such.
func (st *shapeStatement) onlyKey(v *judged) int64 {
	if planner.Class(v.Class) != planner.MultiShard || !v.Bare || len(v.Keys) == 0 {
		return noValue
	}
	symbol := int64(noValue)
	for _, k := range v.Keys {
		if k.Colo == "" || k.Colo != v.Keys[0].Colo || len(k.Slots) == 0 {
			return noValue
		}
		for _, slot := range k.Slots {
			i := slices.Index(st.slots, slot)
			if i < 0 || st.symbols[i] <= noValue || symbol != noValue && st.symbols[i] != symbol {
				return noValue
			}
			symbol = st.symbols[i]
		}
	}
	return symbol
}

func (p *places) at(place string, write bool) {
	if !slices.Contains(p.known, place) {
		p.known = append(p.known, place)
	}
	if write && !slices.Contains(p.written, place) {
		p.written = append(p.written, place)
	}
}

func (p *places) outcome() outcome {
	switch {
	case !p.multi && len(p.known)+p.unnamed <= 1:
		return txnSingle
	case !p.multi && len(p.known) <= 1:
		return txnUnknown // the unnamed ones may be on the same shard or not
	case p.writes || len(p.written)+p.unwrites > 1:
		return txnMultiWrite
	}
	return txnMultiRead
}
