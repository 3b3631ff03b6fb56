package pglog

import (
	"bytes"

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
	parallel  bool // of a parallel worker
	forged    bool
	skipped   bool // a bind line whose execute line follows: its text was not read again
	timed     bool
	whole     bool // of a .sql file: an execution in itself, without a time
	hasVxid   bool
	appSeen   bool // the source says the application name
	hasText   bool
	badParams bool
	number    uint64 // of the record in its process, as syslog gives it; 0 none
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
	names   [5]interner // one for each field: neighbouring records mostly agree
	stderr  stderrParser
	csv     csvParser
	json    jsonParser
	wrapped *unwrapParser
	key     []byte
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
		stderr: stderrParser{clock: c}, csv: csvParser{clock: c}, json: jsonParser{clock: c}, wrapped: newUnwrapParser(cfg.Zone),
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
	switch {
	case c.src.wrap != nil:
		recs = w.wrapped.parse(c.src, &c.un, w.drop, w.note)
	case c.src.format == Stderr:
		w.stderr.prefix = c.src.prefix
		recs = w.stderr.parse(c.data, c.cut, w.dropSpan, w.note)
	case c.src.format == CSV:
		recs = w.csv.parse(c.data, c.cut, w.dropSpan)
	case c.src.format == JSON:
		recs = w.json.parse(c.data, c.cut, w.dropSpan)
	}
	for i := range recs {
		w.record(recs, i)
	}
}

func (w *worker) drop(reason string, bytes int) {
	d := w.out.drops[reason]
	w.out.drops[reason] = Drop{Count: d.Count + 1, Bytes: d.Bytes + int64(bytes)}
}

func (w *worker) dropSpan(reason string, from, to int) { w.drop(reason, to-from) }

func (w *worker) note(kind string) { w.out.notes[kind]++ }

// record appends record i to the result.
func (w *worker) record(recs []record, i int) {
	r := &recs[i]
	o := w.out
	o.recordBytes += int64(r.bytes)
	o.recs = append(o.recs, rec{})
	out := &o.recs[len(o.recs)-1]
	w.header(r, out)
	out.lo, out.hi = int32(len(o.stmts)), int32(len(o.stmts))
	if out.parallel = r.worker; r.worker {
		return
	}
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
	out.user, out.database, out.app = w.names[0].name(r.user), w.names[1].name(r.database), w.names[2].name(r.app)
	out.appSeen = len(r.app) > 0
	out.client = w.names[3].get(host(r.client))
	key := r.session
	if len(key) == 0 {
		if key = r.pid; r.from != nil {
			key = w.process(r.from, key)
		}
	}
	if len(key) == 0 {
		key = r.client
		w.note(NotePidless)
	}
	out.session = w.names[4].get(key)
	out.tag, out.number = tagOf(r.tag), r.number
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

// process is the key of a session by its pid, which the envelope may know better: pids of several hosts are of several processes.
func (w *worker) process(o *origin, pid []byte) []byte {
	w.key = w.key[:0]
	if o.host != "" {
		w.key = append(append(w.key, o.host...), '/')
	}
	if host := len(w.key); len(pid) > 0 {
		w.key = append(w.key, pid...)
	} else if w.key = append(w.key, o.process...); len(w.key) == host {
		return nil
	}
	return w.key
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
