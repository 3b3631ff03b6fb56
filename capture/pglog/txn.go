package pglog

import (
	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// txn follows the transactions of one session.
type txn struct {
	next         uint64 // number given last
	open         bool
	explicit     bool // by BEGIN; otherwise the implicit one of a string of several statements, or one that only its vxid shows
	byVxid       bool
	aborted      bool
	partial      bool
	serializable bool
	byDefault    bool // the session's default is serializable
	lxid         uint64
	start        int64
	lastTime     int64
	statements   int
	savepoints   int
	autoLxid     uint64 // of the autocommit statement before
	autoTime     int64
	autoFailed   bool
}

// execute turns a string's statements, which ran together, into events. duration is that of the whole string.
func (m *machine) execute(s *session, h head, list []heldStmt, duration int64, timed bool, state string) {
	n := int64(len(list))
	if n == 0 {
		return
	}
	m.syncVxid(s, &h, list, timed)
	share := duration / n
	implicit := n > 1 && !s.txn.open && s.key != ""
	for i := range list {
		st := &list[i]
		d := share
		if i == 0 {
			d += duration - share*n
		}
		if implicit && !s.txn.open && st.info.verb != verbBegin {
			m.openTxn(s, &h)
			s.txn.explicit = false
		}
		m.step(s, &h, st, d, timed, int(n), state)
	}
	if s.txn.open && !s.txn.explicit && !s.txn.byVxid {
		m.endTxn(s, h.Time, state == "", false)
	}
}

// syncVxid compares the virtual transaction id of a record with the transaction that is thought to be open. Where BEGIN and COMMIT are too
// fast to be logged, only it shows which statements belong together.
func (m *machine) syncVxid(s *session, h *head, list []heldStmt, timed bool) {
	t := &s.txn
	if !h.HasVxid || s.key == "" {
		return
	}
	switch {
	case t.open && t.lxid != 0 && h.Lxid != 0 && h.Lxid != t.lxid && !(len(list) == 1 && list[0].info.chain): // AND CHAIN is logged by the next one
		m.endTxn(s, t.lastTime, !t.aborted, true)
	case t.open && h.Lxid == 0 && timed && h.Simple && len(list) == 1 && !ends(list[0].info.verb): // after the statement there is no transaction
		m.endTxn(s, t.lastTime, !t.aborted, true)
	case t.open && t.explicit && t.lxid == 0 && h.Lxid != 0:
		t.lxid = h.Lxid
	}
	if !t.open && h.Lxid != 0 && h.Lxid == t.autoLxid {
		t.open, t.explicit, t.byVxid, t.partial = true, false, true, true
		t.lxid, t.start, t.statements, t.savepoints, t.aborted = h.Lxid, t.autoTime, 1, 0, t.autoFailed
	}
}

func (m *machine) openTxn(s *session, h *head) {
	t := &s.txn
	t.next++
	t.open, t.explicit, t.byVxid, t.aborted, t.partial = true, true, false, false, false
	t.serializable, t.lxid, t.start, t.statements, t.savepoints = t.byDefault, h.Lxid, h.Time, 0, 0
	s.saved, s.local = s.search, false
}

// endTxn ends the open transaction, if there is one.
func (m *machine) endTxn(s *session, at int64, committed, partial bool) {
	t := &s.txn
	if !t.open {
		return
	}
	t.open = false
	committed = committed || t.byVxid // it ended out of sight, and nothing in it failed
	if s.local {
		s.search, s.local = s.beforeLocal, false
	}
	if !t.byVxid && (!committed || t.aborted) {
		s.search = s.saved
	}
	if t.statements == 0 {
		return
	}
	m.txns = append(m.txns, capture.Txn{
		Start: stamp(t.start), End: stamp(at), Statements: t.statements, Committed: committed && !t.aborted,
		Partial: partial || t.partial, Savepoints: t.savepoints, Serializable: t.serializable,
	})
	m.events = append(m.events, capture.Event{
		Kind: capture.Transaction, Time: stamp(at), Session: s.key, User: s.user, Database: s.db, App: s.app, Client: s.client,
		Search: s.search, Txn: &m.txns[len(m.txns)-1], TxnID: t.next,
	})
	m.counts.Transactions++
}

// step emits one executed statement and moves the session.
func (m *machine) step(s *session, h *head, st *heldStmt, duration int64, timed bool, share int, state string) {
	t := &s.txn
	t.lastTime = h.Time
	ok := state == ""
	if s.key == "" { // records of all sessions, mixed: there is no telling what is in which transaction
		t.next++
		m.emit(s, h, st, capture.Execution, duration, timed, share, state, false)
		m.counts.Executions++
		if !ok {
			m.counts.Errors++
		}
		if v := st.info.verb; st.search || v == verbSet && st.set != nil && (st.set.Name == "" || st.set.Name == "search_path") {
			s.search = capture.SearchUnknown
		}
		return
	}
	if ok && st.info.verb == verbBegin {
		if t.open && t.explicit {
			ok = true // only a warning: nothing changes
		} else if t.open { // in a string: what came before belongs to it
			t.explicit, t.byVxid = true, false
		} else {
			m.openTxn(s, h)
		}
		t.serializable = t.serializable || st.info.serializable
	}
	if ok && st.info.verb == verbIsolation && t.open {
		t.serializable = st.info.serializable
	}
	auto := !t.open
	if auto {
		t.next++
		t.autoLxid, t.autoTime, t.autoFailed = h.Lxid, h.Time, !ok
	} else if !controls(st.info.verb) {
		t.statements++
	}
	m.emit(s, h, st, capture.Execution, duration, timed, share, state, auto)
	m.counts.Executions++
	if !ok {
		m.counts.Errors++
		if st.info.verb == verbCommit || st.info.verb == verbPrepareTransaction {
			m.endTxn(s, h.Time, false, false)
		} else if t.open {
			t.aborted = true
		}
		return
	}
	m.apply(s, h, st)
}

// controls says that a verb is not counted as a statement of its transaction.
func controls(v verb) bool { return v >= verbBegin && v <= verbPrepareTransaction }

// maxPrepared is how many prepared statements of a session are remembered.
const maxPrepared = 4096

func ends(v verb) bool { return v == verbCommit || v == verbRollback || v == verbPrepareTransaction }

// apply does to the session what the statement did.
func (m *machine) apply(s *session, h *head, st *heldStmt) {
	t := &s.txn
	in := st.info
	switch in.verb {
	case verbCommit, verbRollback, verbPrepareTransaction:
		if !t.open && in.verb == verbCommit && !h.HasVxid {
			return
		}
		serializable := t.serializable
		m.endTxn(s, h.Time, in.verb != verbRollback, false)
		t.autoLxid = 0
		if in.chain {
			m.openTxn(s, h)
			t.lxid, t.serializable = 0, serializable
		}
	case verbSavepoint:
		t.savepoints++
	case verbRollbackTo:
		t.aborted = false
	case verbPrepare:
		if st.body != nil && !t.aborted {
			if len(s.names) >= maxPrepared {
				m.counts.note(NoteEvictedPrepared, int64(len(s.names)))
				s.names = nil
			}
			if s.names == nil {
				s.names = map[string]*prepared{}
			}
			s.names[st.name] = st.body
		}
	case verbDeallocateAll:
		s.names = nil
	case verbSet:
		if st.set != nil {
			m.set(s, st.set)
		}
	case verbSetConfig:
		if st.search {
			s.search = capture.SearchUnknown
		}
	case verbDiscardAll:
		s.search, s.setApp = "", ""
		s.names = nil
	case verbIsolationDefault:
		t.byDefault = in.serializable
	}
}

// set does what SET and RESET do.
func (m *machine) set(s *session, set *sqltext.Setting) {
	switch {
	case set.Name == "": // RESET ALL
		s.search, s.setApp = "", ""
	case set.Name == "application_name":
		if s.setApp = unquoteName(set.Value); set.Default {
			s.setApp = ""
		}
	case set.Name == "default_transaction_isolation":
		s.txn.byDefault = !set.Default && unquoteName(set.Value) == "serializable"
	case set.Local && !s.txn.open: // has no effect
	default:
		path := set.Value
		if set.Default {
			path = ""
		}
		if set.Local && !s.local {
			s.beforeLocal, s.local = s.search, true
		} else if !set.Local {
			s.local = false
		}
		s.search = path
	}
}

func unquoteName(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// emit appends an event. Held values are copied: their memory is used again.
func (m *machine) emit(s *session, h *head, st *heldStmt, kind capture.Kind, duration int64, timed bool, share int, state string, auto bool) {
	m.events = append(m.events, capture.Event{})
	e := &m.events[len(m.events)-1]
	*e = capture.Event{
		Kind: kind, Time: stamp(h.Time), Session: s.key, User: h.User, Database: h.Database, App: h.App, Client: h.Client,
		Team: st.team, Endpoint: st.endpoint, Opaque: st.opaque, Search: s.search,
		SQLState: state, TxnID: s.txn.next, Auto: auto,
	}
	if share > 1 {
		e.Share = share
	}
	if kind == capture.BindOnly {
		e.TxnID, e.Auto = 0, false
	}
	e.Timed = timed
	if timed {
		e.Duration = durationOf(duration)
	}
	if st.opaque != nil {
		m.counts.Opaque++
		return
	}
	e.Template, e.Copy = st.info.template, st.info.copyIn
	if st.info.verb == verbExecute {
		m.prepared(s, st, e)
		return
	}
	e.Values = m.keep(st.values)
	m.noteCut(e.Values)
}

func (m *machine) noteCut(values []capture.Value) {
	for i := range values {
		if values[i].Cut {
			m.counts.note(NoteCutValue, 1)
		}
	}
}

func (m *machine) keep(values []capture.Value) []capture.Value {
	if len(values) == 0 {
		return nil
	}
	from := len(m.values)
	m.values = append(m.values, values...)
	return m.values[from:len(m.values):len(m.values)]
}

// prepared replaces EXECUTE by the statement it runs: the one its record names, or the one its session has prepared.
func (m *machine) prepared(s *session, st *heldStmt, e *capture.Event) {
	p := st.body
	if p == nil {
		p = s.names[st.name]
	}
	if p == nil {
		m.counts.note(NoteUnknownPrepared, 1)
		return
	}
	if e.Team == "" && e.Endpoint == "" {
		e.Team, e.Endpoint = p.team, p.endpoint
	}
	if p.opaque != nil {
		e.Template, e.Opaque = nil, p.opaque
		m.counts.Opaque++
		return
	}
	for i := range st.values {
		if v := &st.values[i]; v.Has == 0 && !v.Null && !v.Cut {
			m.counts.note(NoteUnresolvedParams, 1)
			break
		}
	}
	e.Template, e.Copy = p.info.template, p.info.copyIn
	from := len(m.values)
	for i := range p.values {
		v := p.values[i]
		if k := p.binds[i]; k > 0 {
			slot := v.Slot
			if v = (capture.Value{}); k <= len(st.values) {
				v = st.values[k-1]
			}
			v.Slot = slot
		}
		m.values = append(m.values, v)
	}
	e.Values = m.values[from:len(m.values):len(m.values)]
	m.noteCut(e.Values)
}
