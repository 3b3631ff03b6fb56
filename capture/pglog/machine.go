package pglog

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// machine pairs the records of each session and turns them into events. It sees records in input order and runs in one goroutine.
type machine struct {
	cfg      *Config
	counts   *tally
	sessions map[string]*session
	last     *session // of the record before
	seq      int64    // number of the record
	events   []capture.Event
	values   []capture.Value // of events whose values had been held
	txns     []capture.Txn
	tmp      []heldStmt
	stmts    []stmt // of the chunk
	windows  []*window
}

func newMachine(cfg *Config, counts *tally) (*machine, error) {
	m := &machine{cfg: cfg, counts: counts, sessions: map[string]*session{}}
	if cfg.State != nil {
		if err := m.restore(cfg.State); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// head is what an event takes over from its record.
type head struct {
	Time     int64  `cbor:"1,keyasint,omitempty"`
	User     string `cbor:"2,keyasint,omitempty"`
	Database string `cbor:"3,keyasint,omitempty"`
	App      string `cbor:"4,keyasint,omitempty"`
	Client   string `cbor:"5,keyasint,omitempty"`
	Lxid     uint64 `cbor:"6,keyasint,omitempty"`
	HasVxid  bool   `cbor:"7,keyasint,omitempty"`
	Simple   bool   `cbor:"8,keyasint,omitempty"`
}

// heldStmt is a statement that waits, or is about to become an event.
type heldStmt struct {
	info     *info
	opaque   *capture.Opaque
	team     string
	endpoint string
	name     string
	set      *sqltext.Setting
	search   bool
	values   []capture.Value
	body     *prepared
}

// prepared is the body of a PREPARE.
type prepared struct {
	key      uint64 // of its text
	info     *info
	opaque   *capture.Opaque
	team     string
	endpoint string
	values   []capture.Value
	binds    []int // parameter number of each value, 0 a literal
}

// held is the text of a record that waits for another record.
type held struct {
	on       bool
	head     head
	key      uint64
	duration int64
	timed    bool
	bad      bool // its parameter list could not be read
	planned  bool // its plan has come
	stmts    []heldStmt
	count    int     // of a plan: how often it came
	each     []int64 // of a plan: the durations
}

type session struct {
	key         string
	seen        int64 // seq of its last record
	user        string
	db          string
	app         string
	client      string
	setApp      string
	search      string
	saved       string // search before the open transaction
	local       bool   // search was SET LOCAL, and beforeLocal comes back
	beforeLocal string
	pending     held // logged before its execution
	bind        held
	plan        held
	number      uint64    // of its last record, as syslog gives it
	done        uint64    // key of the text whose execution was the last to end with a duration, 0 none
	ran         []ranText // executions whose plan may still come, oldest first
	names       map[string]*prepared
	txn         txn
}

// begin starts a batch. What the batch before pointed to is free again.
func (m *machine) begin() {
	clear(m.events)
	m.events, m.values, m.txns = m.events[:0], m.values[:0], m.txns[:0]
}

// windowOf finds what an earlier run consumed of a source beyond the position where it is to go on.
func (m *machine) windowOf(s *source) *window {
	for i := len(m.windows) - 1; i >= 0; i-- {
		if w := m.windows[i]; w.Offset == s.known.Offset && Identifies(m.cfg.HashKey, w.Identity, s.head) {
			return w
		}
	}
	return nil
}

// maxWindows sources are remembered with what was consumed of them beyond their position.
const maxWindows = 64

// consumed takes note of what was consumed of a source beyond its position.
func (m *machine) consumed(s *source, taken [][2]int64) {
	if s.window == nil {
		if len(taken) == 0 {
			return
		}
		s.window = new(window)
		m.windows = append(m.windows, s.window)
		if len(m.windows) > maxWindows {
			m.windows = m.windows[1:]
		}
	}
	*s.window = window{s.pos.Identity, s.pos.Offset, taken}
	if len(taken) == 0 {
		m.windows = slices.DeleteFunc(m.windows, func(w *window) bool { return w == s.window })
		s.window = nil
	}
}

func (m *machine) chunk(c *chunk) {
	m.stmts = c.out.stmts
	for i := range c.out.recs {
		r := &c.out.recs[i]
		m.counts.Records++
		bucket := m.record(r)
		m.counts.Buckets[bucket]++
	}
	m.stmts = nil
	if len(m.sessions) > m.cfg.Sessions {
		m.evict()
	}
}

func (m *machine) session(r *rec) *session {
	m.seq++
	s := m.last
	if s == nil || s.key != r.session {
		if s = m.sessions[r.session]; s == nil {
			s = &session{key: strings.Clone(r.session)}
			s.txn.next = uint64(max(r.time, 0)/1e6) << 20 // numbers stay apart when a pid is used again
			m.sessions[s.key] = s
		}
		m.last = s
	}
	s.seen = m.seq
	if r.number > 0 {
		if s.number > 0 && r.number > s.number+1 {
			m.counts.note(NoteLostRecords, int64(min(r.number-s.number-1, 1<<32)))
		}
		s.number = r.number
	}
	if r.user != "" {
		s.user = r.user
	}
	if r.database != "" {
		s.db = r.database
	}
	if r.client != "" {
		s.client = r.client
	}
	if r.appSeen {
		s.app = r.app
	} else {
		s.app = s.setApp
	}
	return s
}

func (s *session) header(r *rec) head {
	return head{Time: r.time, User: s.user, Database: s.db, App: s.app, Client: s.client, Lxid: r.lxid, HasVxid: r.hasVxid, Simple: r.kind == kindStatement}
}

// record advances the session and says which bucket the record belongs to.
func (m *machine) record(r *rec) string {
	if r.parallel {
		return BucketWorker
	}
	s := m.session(r)
	if r.badParams && r.kind != kindBind { // the execute line of a bind line says it again
		m.counts.note(NoteMalformedParams, 1)
	}
	if r.failed {
		return m.fail(s, r)
	}
	if r.forged {
		return BucketForged
	}
	switch r.kind {
	case kindStatement, kindExecute:
		m.statement(s, r)
		return BucketStatement
	case kindFastpath:
		m.statement(s, r)
		return BucketFastpath
	case kindBare:
		return m.bare(s, r)
	case kindParse:
		return BucketParse
	case kindBind:
		m.bindLine(s, r)
		return BucketBind
	case kindFetch:
		return BucketFetch
	case kindPlan:
		if r.nested {
			return BucketPlanNested
		}
		m.planRecord(s, r)
		return BucketPlan
	case kindConnect:
		m.flush(s)
		m.endTxn(s, r.time, false, true)
		return BucketConnection
	case kindDisconnect:
		m.endSession(s, r.time)
		return BucketConnection
	case kindAudit:
		return BucketAudit
	case kindLocalized:
		return BucketLocalized
	}
	return BucketMessage
}

// statement is a line with the text of an execution, timed or logged before it runs.
func (m *machine) statement(s *session, r *rec) {
	n := int64(r.hi - r.lo)
	m.counts.Statements += n
	if s.pending.on {
		m.run(s, &s.pending, false, "")
	}
	list := m.view(r)
	planned := m.joinPlan(s, r.key, list)
	m.joinBind(s, r.key, nil)
	if n == 0 {
		return
	}
	if r.timed || r.whole {
		if !planned {
			s.remember(r.key, list)
		}
		h := s.header(r)
		m.execute(s, h, list, r.duration, r.timed, "")
		s.done = r.key
		return
	}
	m.hold(&s.pending, s, r)
	s.pending.planned = planned
}

// bare closes what was logged before it ran. Without that it is the time of a parse or bind step, or of something that is not logged.
func (m *machine) bare(s *session, r *rec) string {
	if r.tag == tagParse || r.tag == tagBind || !s.pending.on {
		return BucketOverhead
	}
	if planned := m.joinPlan(s, s.pending.key, s.pending.stmts); !planned && !s.pending.planned {
		s.remember(s.pending.key, s.pending.stmts)
	}
	s.pending.duration, s.pending.timed = r.duration, true
	if r.hasVxid { // after the statement: 0 says that the transaction has ended
		s.pending.head.HasVxid = true
	}
	m.run(s, &s.pending, true, "")
	s.done = s.pending.key
	return BucketDuration
}

func (m *machine) bindLine(s *session, r *rec) {
	if s.pending.on {
		m.run(s, &s.pending, false, "")
	}
	m.joinBind(s, 0, nil)
	if r.skipped {
		m.counts.Statements += int64(r.joined)
		m.counts.Joined += int64(r.joined)
		return
	}
	n := int64(r.hi - r.lo)
	m.counts.Statements += n
	if n > 0 {
		m.hold(&s.bind, s, r)
		s.bind.duration, s.bind.timed = r.duration, r.timed
	}
}

// joinBind ends the waiting of a bind line: it belongs to the execution with the same text, or it is all there is of one.
func (m *machine) joinBind(s *session, key uint64, take *held) {
	b := &s.bind
	if !b.on {
		return
	}
	b.on = false
	if b.key == key {
		m.counts.Joined += int64(len(b.stmts))
		if take != nil {
			take.stmts, b.stmts = b.stmts, take.stmts
		}
		return
	}
	if b.bad {
		m.counts.note(NoteMalformedParams, 1)
	}
	for i := range b.stmts {
		m.emit(s, &b.head, &b.stmts[i], capture.BindOnly, b.duration, b.timed, 0, "", true)
		m.counts.BindOnly++
	}
}

// fail is an ERROR, FATAL or PANIC.
func (m *machine) fail(s *session, r *rec) string {
	state := capture.StateUnknown
	if r.state != [5]byte{} {
		state = string(r.state[:])
	}
	bucket := BucketError
	switch n := int64(r.hi - r.lo); {
	case s.endedAfter(r):
		m.counts.Statements += n
		m.counts.Joined += n
		bucket = BucketMessage
	case r.hasText && n > 0:
		m.counts.Statements += n
		if s.pending.on && (s.pending.key != r.key || r.tag == tagParse || r.tag == tagBind) {
			m.run(s, &s.pending, false, "")
		}
		m.joinPlan(s, r.key, m.view(r))
		h := s.header(r)
		var values held
		m.joinBind(s, r.key, &values)
		if s.pending.on {
			s.pending.on = false
			m.counts.Joined += int64(len(s.pending.stmts))
			values.stmts, s.pending.stmts = s.pending.stmts, values.stmts
			h.Simple = s.pending.head.Simple
		}
		list := m.view(r)
		for i := range list {
			if i < len(values.stmts) {
				m.complete(&list[i], &values.stmts[i])
			}
		}
		if n > 1 {
			m.counts.note(NoteFailedString, n)
		}
		m.execute(s, h, list, 0, false, state)
	case s.pending.on:
		m.joinPlan(s, s.pending.key, s.pending.stmts)
		m.run(s, &s.pending, false, state)
	default:
		bucket = BucketMessage
		m.counts.note(NoteErrorWithoutText, 1)
	}
	if r.fatal {
		m.endSession(s, r.time)
	}
	return bucket
}

// endedAfter says that a session was ended right after a statement whose duration it had logged, and before it forgot the text: FATAL names that
// text once more, outside of any transaction. A second execution of the same text would be in one. Seen on 12 to 18 when a server is shut down
// under load. Inside a transaction, which in the extended protocol lasts until Sync, the two cannot be told apart.
func (s *session) endedAfter(r *rec) bool {
	return r.fatal && r.hasText && r.hasVxid && r.lxid == 0 && !s.pending.on && s.done != 0 && r.key == s.done
}

// complete takes bind values that the error does not repeat from the line before it.
func (m *machine) complete(to, from *heldStmt) {
	if len(to.values) != len(from.values) {
		return
	}
	for i := range to.values {
		if v := &to.values[i]; v.Has == 0 && !v.Null && !v.Cut {
			slot := v.Slot
			*v = from.values[i]
			v.Slot = slot
		}
	}
	if to.body == nil {
		to.body = from.body
	}
}

// run ends the waiting of a held text: it was executed.
func (m *machine) run(s *session, h *held, closed bool, state string) {
	h.on = false
	if !closed {
		m.joinPlan(s, h.key, h.stmts)
	}
	m.execute(s, h.head, h.stmts, h.duration, h.timed && state == "", state)
}
