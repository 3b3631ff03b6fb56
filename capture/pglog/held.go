package pglog

import (
	"slices"
	"strings"
	"time"

	"github.com/foreshard/foreshard/capture"
)

// view shows the statements of a record as held ones, without copies.
func (m *machine) view(r *rec) []heldStmt {
	m.tmp = m.tmp[:0]
	for i := r.lo; i < r.hi; i++ {
		m.tmp = append(m.tmp, m.heldOf(&m.stmts[i]))
	}
	return m.tmp
}

func (m *machine) heldOf(st *stmt) heldStmt {
	h := heldStmt{info: st.info, opaque: st.opaque, team: st.team, endpoint: st.endpoint, name: st.name, set: st.set, search: st.search, values: st.values}
	if st.body >= 0 {
		b := &m.stmts[st.body]
		h.body = &prepared{key: st.bodyKey, info: b.info, opaque: b.opaque, team: b.team, endpoint: b.endpoint, values: slices.Clone(b.values), binds: b.binds}
	}
	return h
}

// hold copies the statements of a record, whose memory ends with its chunk.
func (m *machine) hold(h *held, s *session, r *rec) {
	old := h.stmts
	h.on, h.head, h.key, h.duration, h.timed, h.bad, h.planned = true, s.header(r), r.key, 0, false, r.badParams, false
	h.stmts = old[:0]
	for i := r.lo; i < r.hi; i++ {
		var mem []capture.Value
		if k := len(h.stmts); k < len(old) {
			mem = old[k].values[:0]
		}
		st := m.heldOf(&m.stmts[i])
		st.values = append(mem, st.values...)
		h.stmts = append(h.stmts, st)
	}
}

// flush ends all waiting.
func (m *machine) flush(s *session) {
	if s.pending.on {
		m.run(s, &s.pending, false, "")
	}
	m.joinPlan(s, 0, nil)
	m.joinBind(s, 0, nil)
}

func (m *machine) endSession(s *session, at int64) {
	m.flush(s)
	m.endTxn(s, at, false, false)
	delete(m.sessions, s.key)
	if m.last == s {
		m.last = nil
	}
}

// finish ends the traffic.
func (m *machine) finish() {
	for _, s := range m.sorted() {
		m.flush(s)
		m.endTxn(s, s.txn.lastTime, false, true)
	}
	clear(m.sessions)
	m.last = nil
}

// evict forgets the quarter of the sessions that has been silent for longest.
func (m *machine) evict() {
	list := make([]*session, 0, len(m.sessions))
	for _, s := range m.sessions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *session) int { return int(a.seen - b.seen) })
	for _, s := range list[:len(list)-m.cfg.Sessions*3/4] {
		m.flush(s)
		m.endTxn(s, s.txn.lastTime, false, true)
		delete(m.sessions, s.key)
		m.counts.note(NoteEvictedSession, 1)
	}
	m.last = nil
}

func (m *machine) sorted() []*session {
	list := make([]*session, 0, len(m.sessions))
	for _, s := range m.sessions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *session) int { return strings.Compare(a.key, b.key) })
	return list
}

func (m *machine) pendingStatements() (n int64) {
	for _, s := range m.sessions {
		if s.pending.on {
			n += int64(len(s.pending.stmts))
		}
		if s.bind.on {
			n += int64(len(s.bind.stmts))
		}
		if s.plan.on {
			n += int64(s.plan.count)
		}
	}
	return n
}

func stamp(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

func durationOf(nanos int64) time.Duration { return time.Duration(nanos) }
