package fix

import (
	"cmp"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/reason"
	"github.com/foreshard/foreshard/planner/resolve"
	"github.com/foreshard/foreshard/planner/sqlast"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// The kinds of fixes.
const (
	Predicate      = "predicate"       // an equality on a shard key
	JoinKey        = "join_key"        // the equality of two tables' shard keys
	Lookup         = "lookup"          // the key from a unique column, then the predicate
	Split          = "split"           // several statements instead of one
	Transaction    = "transaction"     // several transactions instead of one
	ConflictTarget = "conflict_target" // ON CONFLICT on a unique constraint that has the key
	InsertKey      = "insert_key"      // INSERT gives the key
	SetKey         = "set_key"         // UPDATE leaves the key alone
	Annotate       = "annotate"        // the candidate says what a function touches
	Place          = "place"           // the candidate names an undecided table
	Move           = "move"            // a table into a colo
	Reference      = "reference"       // a table becomes a reference table
	Denormalise    = "denormalise"     // a table gets a key column and a place in a colo
	Dialect        = "dialect"         // the engine learns a feature
)

// Kinds returns all kinds, smallest change first.
func Kinds() []string {
	return []string{SetKey, ConflictTarget, InsertKey, JoinKey, Lookup, Predicate, Annotate, Place, Split, Transaction, Move, Reference, Denormalise, Dialect}
}

// Max is how many fixes a statement gets.
const Max = 3

// maxTries bounds the changes that are judged for one statement, maxText the length of a text that is changed at all.
const (
	maxTries = 160
	maxText  = 16 << 10
)

// Explain returns the fixes of a text whose answer is a, smallest first. A text of several statements is looked at statement by statement,
// and as a transaction. A ready text has none.
func Explain(p *planner.Planner, q planner.Question, a planner.Answer) []planner.Fix {
	if a.Readiness == planner.Ready {
		return []planner.Fix{}
	}
	spans := statements(q.SQL)
	if len(spans) > 1 {
		return transaction(p, q, spans, a)
	}
	return finish(explainOne(p, q, a.Verdict, nil))
}

func explainOne(p *planner.Planner, q planner.Question, before planner.Verdict, borrowed []string) []planner.Fix {
	st, at, ok := p.Facts(q)
	if !ok {
		return nil
	}
	s := &search{p: p, text: q.SQL, before: before, st: st, at: at, fresh: len(q.Params), borrowed: borrowed, renumber: len(q.Params) == 0}
	s.judge = func(p *planner.Planner, text string, _ bool) planner.Verdict {
		return p.Explain(planner.Question{SQL: text, Params: q.Params, Setup: q.Setup}).Verdict
	}
	return s.run()
}

// Template returns the fixes of a template whose verdict for all values is v. Their texts number parameters as the template does.
func Template(p *planner.Planner, t *sqltext.Template, path []string, v planner.Verdict) []planner.Fix {
	if v.Readiness == planner.Ready || t.Bound != sqltext.WithinBounds {
		return []planner.Fix{}
	}
	judge := func(p *planner.Planner, text string, scalar bool) planner.Verdict {
		slots := extended(t.Slots, scalar)
		st := resolve.Statement(sqltext.NewTemplate(text, slots), p.Catalog(), resolve.Options{SearchPath: path})
		return p.Judge(st, slots, nil)
	}
	s := &search{p: p, text: t.Text, before: v, at: func(pos int) int { return pos }, fresh: len(t.Slots), judge: judge}
	s.st = resolve.Statement(t, p.Catalog(), resolve.Options{SearchPath: path})
	return finish(s.run())
}

// Judge is the verdict on a template for all values.
func Judge(p *planner.Planner, t *sqltext.Template, path []string) planner.Verdict {
	return p.Judge(resolve.Statement(t, p.Catalog(), resolve.Options{SearchPath: path}), t.Slots, nil)
}

// extended adds one parameter to a template's slots. scalar: lists are single values.
func extended(slots []sqltext.Slot, scalar bool) []sqltext.Slot {
	out := slices.Clone(slots)
	bind := 0
	for i := range out {
		bind = max(bind, out[i].Bind)
		if scalar {
			out[i].List = false
		}
	}
	return append(out, sqltext.Slot{Kind: sqltext.Bind, Bind: bind + 1})
}

// search is the state of one statement's search.
type search struct {
	p      *planner.Planner
	text   string
	before planner.Verdict
	st     *facts.Statement
	at     func(pos int) int // from positions of the facts to offsets in text
	judge  func(p *planner.Planner, text string, scalar bool) planner.Verdict
	fresh  int // number of a parameter that the text has not
	lower  bool
	tries  int
	found  []planner.Fix

	tokens []sqlast.Token
	levels []*level
	occ    []*item
	values []string
	broken map[string]bool // what the candidate breaks of the schema as it is

	renumber bool     // parameters may get other numbers
	borrowed []string // key values of the other statements of a transaction
}

// run tries everything that may help.
func (s *search) run() []planner.Fix {
	if s.before.Class == planner.Invalid || len(s.text) > maxText || s.st == nil {
		return nil
	}
	tree, err := sqlast.ParseOne(s.text)
	if err != nil {
		return nil // a text that has no tree cannot be changed; its verdict says so
	}
	if s.tokens, err = scan(s.text); err != nil || len(s.tokens) == 0 {
		return nil
	}
	for _, t := range s.tokens {
		if word := s.text[t.Start:t.End]; t.Name == "SELECT" || t.Name == "UPDATE" || t.Name == "DELETE_P" || t.Name == "INSERT" {
			s.lower = word == strings.ToLower(word)
			break
		}
	}
	s.fresh = max(s.fresh, highest(tree)) + 1
	if s.st.Query != nil && len(s.st.Problems) == 0 {
		s.read(tree)
		if s.faithful() {
			s.writes(tree)
			s.predicates()
			s.splits(tree)
		}
		s.annotations()
		s.places()
	}
	s.dialect()
	return s.found
}

// faithful tells whether the tree, written out as it is, is judged as the text is: what is changed in it is judged in that form.
func (s *search) faithful() bool {
	text, ok := s.apply()
	if !ok {
		return false
	}
	v := s.judge(s.p, text, false)
	return v.Class == s.before.Class && v.Readiness == s.before.Readiness
}

// rank orders readiness, best first.
func rank(r planner.Readiness) int {
	return slices.Index([]planner.Readiness{planner.Ready, planner.Costly, planner.Blocked, planner.UnknownReadiness}, r)
}

// better tells whether a verdict is a step forward: better readiness, or both costly and a cheaper class. No row at all is no success: the
// change contradicts the statement.
func better(before, after *planner.Verdict) bool {
	if after.Class == planner.None && before.Class != planner.None || after.Class == planner.Invalid || after.Class == planner.Unknown {
		return false
	}
	a, b := rank(after.Readiness), rank(before.Readiness)
	return a >= 0 && a < b && after.Readiness != planner.Blocked ||
		a == b && after.Readiness == planner.Costly && planner.Cost(after.Class) < planner.Cost(before.Class)
}

// try judges a text under a planner; ok if that is a step forward.
func (s *search) try(p *planner.Planner, text string, scalar bool) (v planner.Verdict, ok bool) {
	if s.tries >= maxTries {
		return v, false
	}
	s.tries++
	v = s.judge(p, text, scalar)
	return v, better(&s.before, &v)
}

// all judges statements that replace one; the verdict is the dearest one's.
func (s *search) all(texts []string, scalar bool) (worst planner.Verdict, ok bool) {
	for i, text := range texts {
		v, good := s.try(s.p, text, scalar)
		if !good && v.Class != planner.None {
			return v, false
		}
		if i == 0 || rank(v.Readiness) > rank(worst.Readiness) || rank(v.Readiness) == rank(worst.Readiness) && planner.Cost(v.Class) > planner.Cost(worst.Class) {
			worst = v
		}
	}
	return worst, len(texts) > 0 && better(&s.before, &worst)
}

func (s *search) offer(f planner.Fix, v *planner.Verdict) {
	f.Class, f.Readiness = v.Class, v.Readiness
	s.found = append(s.found, f)
}

// finish sorts fixes and keeps the best: ready ones first, smallest change first, one of a kind.
func finish(list []planner.Fix) []planner.Fix {
	kinds := Kinds()
	slices.SortStableFunc(list, func(a, b planner.Fix) int {
		return cmp.Or(cmp.Compare(rank(a.Readiness), rank(b.Readiness)), cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			dearer(a, b))
	})
	out := []planner.Fix{}
	for _, f := range list {
		same := f.Kind != Place && slices.ContainsFunc(out, func(o planner.Fix) bool { return o.Kind == f.Kind })
		if !same && len(out) < Max {
			out = append(out, f)
		}
	}
	return out
}

// dearer orders fixes that leave the statement costly.
func dearer(a, b planner.Fix) int {
	if a.Readiness == planner.Ready {
		return 0
	}
	return cmp.Compare(planner.Cost(a.Class), planner.Cost(b.Class))
}

// has tells whether the verdict has a reason.
func (s *search) has(codes ...reason.Code) bool {
	return slices.ContainsFunc(s.before.Reasons, func(r reason.Reason) bool { return slices.Contains(codes, r.Code) })
}

// statements are the parts of a text.
func statements(text string) []sqltext.Span {
	var sc sqltext.Scanner
	sc.Reset([]byte(text))
	var spans []sqltext.Span
	for sc.Next() {
		spans = append(spans, sc.Statement().Span)
	}
	return spans
}
