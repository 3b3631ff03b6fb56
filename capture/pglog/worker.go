package pglog

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// result is what a worker makes of a chunk. Its memory is used again with the chunk.
type result struct {
	recs        []rec
	stmts       []stmt
	values      []capture.Value
	drops       map[string]Drop
	notes       map[string]int64
	recordBytes int64
	first, last int64
}

// rec is one record, ready for the session machine. It holds no raw text but names.
type rec struct {
	time      int64
	duration  int64
	key       uint64 // of the text: equal for equal statements with equal literals; 0 no text
	session   string
	user      string
	database  string
	app       string
	client    string
	kind      kind
	tag       tag
	failed    bool
	fatal     bool
	nested    bool // a plan inside a function
	forged    bool
	skipped   bool // a bind line whose execute line follows: its text was not read again
	timed     bool
	whole     bool // of a .sql file: an execution in itself, without a time
	hasVxid   bool
	appSeen   bool // the source says the application name
	hasText   bool
	badParams bool
	lxid      uint64
	state     [5]byte // zero: not in the log
	lo, hi    int32   // result.stmts
	joined    int32   // of a skipped bind line: statements of its execute line
}

type tag uint8

const (
	tagUnknown tag = iota
	tagOther
	tagParse
	tagBind
)

// stmt is one statement of a record.
type stmt struct {
	info     *info
	opaque   *capture.Opaque
	values   []capture.Value // into result.values
	team     string
	endpoint string
	name     string           // of PREPARE and EXECUTE
	set      *sqltext.Setting // of SET and RESET
	search   bool             // calls set_config on search_path, as far as can be told
	body     int32            // of PREPARE, or of an EXECUTE whose record names it: index of the statement in result.stmts; -1 none
	bodyKey  uint64           // key of the body's text
	binds    []int            // of a body: the parameter number of each value, 0 a literal
}

// worker turns chunks into results.
type worker struct {
	cfg     *Config
	hash    hasher
	scanner sqltext.Scanner
	inner   sqltext.Scanner // of the bodies of PREPARE
	cache   *sqltext.Cache
	infos   map[*sqltext.Template]*info
	names   interner
	stderr  stderrParser
	csv     csvParser
	json    jsonParser
	tags    map[string]place // by comment
	bodies  []innerQuery
	params  []param
	out     *result
	source  *source
}

func newWorker(cfg *Config) *worker {
	c := clock{zone: cfg.Zone}
	return &worker{
		cfg: cfg, hash: newHasher(cfg.HashKey), cache: cfg.Cache, infos: map[*sqltext.Template]*info{}, tags: map[string]place{},
		stderr: stderrParser{clock: c}, csv: csvParser{clock: c}, json: jsonParser{clock: c},
	}
}

func (w *worker) run(c *chunk) {
	o := &c.out
	if o.drops == nil {
		o.drops, o.notes = map[string]Drop{}, map[string]int64{}
	}
	clear(o.drops)
	clear(o.notes)
	clear(o.stmts) // let go of what they point to
	*o = result{recs: o.recs[:0], stmts: o.stmts[:0], values: o.values[:0], drops: o.drops, notes: o.notes}
	w.out, w.source = o, c.src
	if c.src.format == SQL {
		w.sqlFile(c)
		return
	}
	var recs []record
	switch c.src.format {
	case Stderr:
		w.stderr.prefix = c.src.prefix
		recs = w.stderr.parse(c.data, c.cut, w.drop, w.note)
	case CSV:
		recs = w.csv.parse(c.data, c.cut, w.drop)
	case JSON:
		recs = w.json.parse(c.data, c.cut, w.drop)
	}
	for i := range recs {
		w.record(recs, i)
	}
}

func (w *worker) drop(reason string, bytes int) {
	d := w.out.drops[reason]
	w.out.drops[reason] = Drop{Count: d.Count + 1, Bytes: d.Bytes + int64(bytes)}
}

func (w *worker) note(kind string) { w.out.notes[kind]++ }

// record appends record i to the result.
func (w *worker) record(recs []record, i int) {
	r := &recs[i]
	o := w.out
	o.recordBytes += int64(r.end - r.start)
	o.recs = append(o.recs, rec{})
	out := &o.recs[len(o.recs)-1]
	w.header(r, out)
	out.lo, out.hi = int32(len(o.stmts)), int32(len(o.stmts))
	if r.severity.failed() {
		out.kind, out.failed, out.fatal = kindMessage, true, r.severity >= sevFatal
		if len(r.query) > 0 {
			list, ok := errorParams(r.context)
			w.text(out, r.query, list, ok, r.cut)
		}
		return
	}
	b := classify(r.message)
	if r.severity != sevLog && b.kind != kindPlan {
		b = body{}
	}
	out.kind, out.timed, out.duration = b.kind, b.timed, b.duration
	if r.hasCtx {
		switch b.kind {
		case kindPlan:
			out.nested = true
			return
		case kindBare, kindStatement, kindExecute, kindFetch, kindParse, kindBind, kindFastpath, kindLocalized:
			out.forged = true
			return
		}
	}
	switch b.kind {
	case kindStatement, kindExecute, kindBind:
		if b.kind == kindBind && followed(recs, i, b.text) {
			out.skipped = true
			return
		}
		list, ok := paramText(r.detail)
		w.text(out, b.text, list, ok, r.cut)
		if n := len(o.recs); b.kind == kindExecute && n > 1 && o.recs[n-2].skipped {
			o.recs[n-2].joined = out.hi - out.lo
		}
		if b.kind == kindStatement && out.hi == out.lo+1 && r.detail != nil {
			w.prepareDetail(out, r.detail)
		}
	case kindPlan:
		w.plan(out, b.text, r.cut)
	case kindFastpath:
		out.hasText = true
		o.stmts = append(o.stmts, stmt{opaque: w.hash.opaque(b.text, "fastpath"), info: nothing, body: -1})
		out.hi++
	}
}

// nothing is the info of text without a template.
var nothing = &info{}

func (w *worker) header(r *record, out *rec) {
	o := w.out
	if r.hasTime {
		out.time = r.time
		if r.zoneUnknown {
			w.note(NoteUnknownZone)
		}
		if o.first == 0 || r.time < o.first {
			o.first = r.time
		}
		o.last = max(o.last, r.time)
	} else {
		w.note(NoteBadTime)
	}
	out.user, out.database, out.app = w.name(r.user), w.name(r.database), w.name(r.app)
	out.appSeen = len(r.app) > 0
	out.client = w.names.get(host(r.client))
	switch {
	case len(r.session) > 0:
		out.session = w.names.get(r.session)
	case len(r.pid) > 0:
		out.session = w.names.get(r.pid)
	default:
		out.session = w.names.get(r.client)
		w.note(NotePidless)
	}
	out.tag = tagOf(r.tag)
	out.hasVxid = r.hasVxid && len(r.vxid) > 0
	if i := bytes.IndexByte(r.vxid, '/'); i >= 0 {
		for _, c := range r.vxid[i+1:] {
			if !isDigit(c) {
				out.lxid = 0
				break
			}
			out.lxid = out.lxid*10 + uint64(c-'0')
		}
	}
	if len(r.state) == 5 {
		copy(out.state[:], r.state)
	}
}

func (w *worker) name(b []byte) string {
	if string(b) == "[unknown]" {
		return ""
	}
	return w.names.get(b)
}

func tagOf(b []byte) tag {
	switch {
	case len(b) == 0:
		return tagUnknown
	case string(b) == "PARSE":
		return tagParse
	case string(b) == "BIND":
		return tagBind
	}
	return tagOther
}

// host takes the port off: "host(port)" in stderr, "host:port" in csv.
func host(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == ')' {
		if i := bytes.LastIndexByte(b, '('); i > 0 && allDigits(b[i+1:n-1]) {
			return b[:i]
		}
	}
	if i := bytes.LastIndexByte(b, ':'); i > 0 && allDigits(b[i+1:]) && (bytes.IndexByte(b, ':') == i || bytes.Count(b, []byte(":")) > 7 || bytes.Contains(b, []byte("::"))) {
		return b[:i]
	}
	return b
}

// followed says that the next record is the execution of this bind.
func followed(recs []record, i int, text []byte) bool {
	if i+1 >= len(recs) {
		return false
	}
	r, next := &recs[i], &recs[i+1]
	if next.severity != sevLog || next.hasCtx || r.cut || next.cut || !bytes.Equal(r.pid, next.pid) || !bytes.Equal(r.session, next.session) || !bytes.Equal(r.client, next.client) {
		return false
	}
	b := classify(next.message)
	return b.kind == kindExecute && bytes.Equal(b.text, text)
}

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

// sqlFile reads a chunk of a .sql file: statements without times, in one session.
func (w *worker) sqlFile(c *chunk) {
	o := w.out
	sp := splitter{inCopy: c.inCopy}
	used := sp.split(c.data, true, func(p piece, text []byte) {
		switch p {
		case pieceCopyData:
			w.drop(DropCopyData, len(text))
		case pieceMeta:
			w.drop(DropMeta, len(text))
		case pieceBlank:
			w.drop(DropBlank, len(text))
		default:
			out := rec{kind: kindStatement, session: c.src.name, whole: true}
			w.params = w.params[:0]
			w.text(&out, text, nil, false, false)
			if out.hi == out.lo { // comments only
				w.drop(DropBlank, len(text))
				return
			}
			o.recordBytes += int64(len(text))
			o.recs = append(o.recs, out)
		}
	})
	if c.cut && len(o.recs) > 0 && used == len(c.data) {
		r := &o.recs[len(o.recs)-1]
		o.stmts = o.stmts[:r.lo]
		w.opaque(r, c.data, "truncated")
	}
}
