package pglog

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// cutMark is what RDS puts where it cut a record.
var cutMark = []byte("[Your log message was truncated]")

// text scans the statements of a record and joins them with their bind values.
func (w *worker) text(out *rec, text, params []byte, hasParams, cut bool) {
	o := w.out
	out.hasText = true
	out.lo = int32(len(o.stmts))
	if cut || bytes.HasSuffix(trimBlank(text), cutMark) {
		w.opaque(out, text, "truncated")
		return
	}
	w.params = w.params[:0]
	if hasParams {
		var ok bool
		if w.params, ok = parseParams(params, w.params); !ok {
			w.params = w.params[:0]
			out.badParams = true
		}
	}
	w.bodies = w.bodies[:0]
	w.scan(&w.scanner, out, text)
	out.hi = int32(len(o.stmts))
	// Bodies of PREPARE are scanned after the statements themselves, so that these stay together.
	for _, b := range w.bodies {
		w.body(b.of, text[b.query.Start:b.query.End])
	}
}

func (w *worker) opaque(out *rec, text []byte, reason string) {
	op := w.hash.opaque(text, reason)
	w.out.stmts = append(w.out.stmts, stmt{opaque: op, info: nothing, body: -1})
	out.hi = int32(len(w.out.stmts))
	out.key = mix(out.key, binary.LittleEndian.Uint64(append([]byte(op.Hash), 0, 0, 0, 0, 0, 0, 0, 0)))
}

func mix(key, v uint64) uint64 {
	key ^= v
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>29 | 1
}

// scan appends the statements of text.
func (w *worker) scan(sc *sqltext.Scanner, out *rec, text []byte) {
	o := w.out
	sc.Reset(text)
	for sc.Next() {
		st := sc.Statement()
		if st.Bound == sqltext.Unlexable {
			w.opaque(out, text[st.Span.Start:st.Span.End], "unlexable")
			continue
		}
		in := w.infoOf(w.cache.Template(st))
		if in.bad != "" {
			w.opaque(out, text[st.Span.Start:st.Span.End], in.bad)
			continue
		}
		s := stmt{info: in, body: -1}
		out.key = mix(out.key, binary.LittleEndian.Uint64(in.template.ID[:8]))
		if !in.secret {
			s.values = w.values(out, st.Values)
		}
		if sc == &w.inner {
			for i := range st.Values {
				s.binds = append(s.binds, st.Values[i].Bind)
			}
		}
		if in.verb >= verbPrepare {
			w.special(sc, out, st, &s)
		}
		if len(st.Comments) > 0 {
			p := w.place(text, st.Comments)
			s.team, s.endpoint = p.team, p.endpoint
		}
		o.stmts = append(o.stmts, s)
	}
}

// values hashes the values of a statement.
func (w *worker) values(out *rec, list []sqltext.Value) []capture.Value {
	o := w.out
	from := len(o.values)
	for i := range list {
		v := &list[i]
		o.values = append(o.values, capture.Value{Slot: v.Slot})
		val := &o.values[len(o.values)-1]
		if v.Kind == sqltext.Bind {
			w.bind(val, v.Bind)
			continue
		}
		w.hash.fill(val, v.Text)
		out.key = mix(out.key, val.Eq[textIndex])
	}
	return o.values[from:len(o.values):len(o.values)]
}

// special reads what the session machine needs of a statement that changes its session.
func (w *worker) special(sc *sqltext.Scanner, out *rec, st *sqltext.Statement, s *stmt) {
	switch s.info.verb {
	case verbPrepare:
		if p, ok := sc.Prepared(); ok {
			s.name = p.Name
			if sc == &w.scanner {
				w.bodies = append(w.bodies, innerQuery{int32(len(w.out.stmts)), p.Query})
			}
		}
	case verbExecute:
		ex, ok := sc.Executed()
		if !ok {
			return
		}
		s.name = ex.Name
		for i := range ex.Args { // an argument takes the number of its parameter
			ex.Args[i].Slot = i + 1
		}
		s.values = w.arguments(&ex)
	case verbSet:
		if set, ok := sc.Setting(); ok && (set.Name == "" || set.Name == "search_path" || set.Name == "application_name" || set.Name == "default_transaction_isolation") {
			s.set = &set
		} else if local := strings.HasPrefix(s.info.template.Text, "set local schema "); !ok && len(st.Values) == 1 &&
			(local || strings.HasPrefix(s.info.template.Text, "set schema ") || strings.HasPrefix(s.info.template.Text, "set session schema ")) {
			s.set = &sqltext.Setting{Name: "search_path", Value: sqltext.QuoteName(string(st.Values[0].Text)), Local: local}
		}
	case verbSetConfig:
		s.search = setsSearch(st.Values)
	}
}

// arguments hashes the arguments of EXECUTE, one value for each; an expression is unknown.
func (w *worker) arguments(ex *sqltext.Executed) []capture.Value {
	o := w.out
	from := len(o.values)
	for i := range ex.Args {
		a := &ex.Args[i]
		o.values = append(o.values, capture.Value{Slot: i + 1, Null: ex.Null[i]})
		val := &o.values[len(o.values)-1]
		switch {
		case ex.Null[i]:
		case a.Kind == sqltext.Bind:
			w.bind(val, a.Bind)
		case a.Kind == 0: // an expression
		default:
			w.hash.fill(val, a.Text)
		}
	}
	return o.values[from:len(o.values):len(o.values)]
}

// place is where in the application a statement comes from.
type place struct{ team, endpoint string }

// place reads the tags of a statement's comments. Only team and endpoint leave; other keys may hold anything.
func (w *worker) place(text []byte, comments []sqltext.Span) place {
	if len(comments) > 1 {
		tags := sqltext.Tags(text, comments)
		return place{sqltext.Team(tags), sqltext.Endpoint(tags)}
	}
	key := text[comments[0].Start:comments[0].End]
	p, ok := w.tags[string(key)]
	if !ok {
		if len(w.tags) >= maxInterned {
			clear(w.tags)
		}
		tags := sqltext.Tags(text, comments)
		p = place{sqltext.Team(tags), sqltext.Endpoint(tags)}
		w.tags[string(key)] = p
	}
	return p
}

// bind fills in the value of parameter n, if the record has it.
func (w *worker) bind(val *capture.Value, n int) {
	p := (*param)(nil)
	if n >= 1 && n <= len(w.params) && w.params[n-1].number == n {
		p = &w.params[n-1]
	} else {
		for i := range w.params {
			if w.params[i].number == n {
				p = &w.params[i]
			}
		}
	}
	switch {
	case p == nil:
	case p.null:
		val.Null = true
	case p.cut:
		val.Cut = true
	default:
		w.hash.fill(val, p.raw)
	}
}

func (w *worker) infoOf(t *sqltext.Template) *info {
	in, ok := w.infos[t]
	if !ok {
		if len(w.infos) >= maxInterned {
			clear(w.infos)
		}
		in = inspect(t)
		w.infos[t] = in
	}
	return in
}

// innerQuery is where in a text the statement stands that a PREPARE names.
type innerQuery struct {
	of    int32 // statement in result.stmts
	query sqltext.Span
}

// body scans the statement that a PREPARE names and hangs it on statement i.
func (w *worker) body(i int32, query []byte) {
	o := w.out
	var own rec
	at := int32(len(o.stmts))
	w.scan(&w.inner, &own, query)
	if int32(len(o.stmts)) == at+1 {
		o.stmts[i].body, o.stmts[i].bodyKey = at, own.key
	} else {
		o.stmts = o.stmts[:at]
	}
}

// prepareDetail scans the PREPARE that the record of an EXECUTE names.
func (w *worker) prepareDetail(out *rec, detail []byte) {
	if w.out.stmts[out.lo].info.verb != verbExecute {
		return
	}
	for _, word := range [...]string{"prepare: ", "Vorbereiten: ", "préparation : ", "prépare : "} {
		text, ok := bytes.CutPrefix(detail, []byte(word))
		if !ok {
			continue
		}
		w.params = w.params[:0]
		// A string of several statements is given whole. The one with the name counts.
		w.scanner.Reset(text)
		for w.scanner.Next() {
			if p, ok := w.scanner.Prepared(); ok && p.Name == w.out.stmts[out.lo].name {
				w.body(out.lo, text[p.Query.Start:p.Query.End])
				return
			}
		}
		return
	}
}

// plan scans the statement of an auto_explain record. For EXECUTE it shows the PREPARE; what ran is its body.
func (w *worker) plan(out *rec, text []byte, cut bool) {
	sql, params, ok := planText(text)
	if !ok {
		out.hasText = true
		w.opaque(out, text, "truncated")
		return
	}
	w.text(out, sql, params, len(params) > 0, cut)
	if st := &w.out.stmts; out.hi == out.lo+1 && (*st)[out.lo].body >= 0 {
		out.key = (*st)[out.lo].bodyKey
		(*st)[out.lo] = (*st)[(*st)[out.lo].body]
	}
}
