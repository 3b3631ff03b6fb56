package pglog

import "slices"

// planRecord keeps a plan until it is known whether its execution is logged too.
func (m *machine) planRecord(s *session, r *rec) {
	m.counts.Statements++
	if s.pending.on && (s.pending.key == r.key || len(s.pending.stmts) == 1 && s.bodyKey(&s.pending.stmts[0]) == r.key) {
		s.pending.duration, s.pending.timed, s.pending.planned = s.pending.duration+r.duration, true, true
		m.counts.Joined++
		return
	}
	if s.recall(r.key) {
		m.counts.Joined++
		return
	}
	p := &s.plan
	if p.on && p.key == r.key && p.count < plannable(p.stmts) {
		p.count++
		p.each = append(p.each, r.duration)
		return
	}
	m.joinPlan(s, 0, nil)
	if s.pending.on {
		m.run(s, &s.pending, false, "")
	}
	if r.hi == r.lo {
		m.counts.Joined++ // a plan of an empty text
		return
	}
	m.hold(p, s, r)
	p.count, p.each = 1, append(p.each[:0], r.duration)
}

// plannable counts the statements of a string that auto_explain gives a plan each, with the whole string as text.
func plannable(list []heldStmt) int {
	n := 0
	for i := range list {
		if list[i].opaque != nil || list[i].info.plannable {
			n++
		}
	}
	return max(n, 1)
}

// joinPlan ends the waiting of a plan: its execution is logged with the same text, or the plan is the only evidence.
func (m *machine) joinPlan(s *session, key uint64, list []heldStmt) (joined bool) {
	p := &s.plan
	if !p.on {
		return false
	}
	p.on = false
	if p.key == key && key != 0 || len(list) == 1 && p.key == s.bodyKey(&list[0]) {
		m.counts.Joined += int64(p.count)
		return true
	}
	if len(p.stmts) == 1 {
		m.execute(s, p.head, p.stmts, p.each[0], true, "")
		m.counts.Joined += int64(p.count - 1)
		return false
	}
	implicit := !s.txn.open && s.key != ""
	if implicit {
		m.openTxn(s, &p.head)
		s.txn.explicit = false
	}
	done := 0
	for i := range p.stmts {
		if done < p.count && (p.stmts[i].opaque != nil || p.stmts[i].info.plannable) {
			m.step(s, &p.head, &p.stmts[i], p.each[done], true, 1, "")
			done++
		}
	}
	if implicit {
		m.endTxn(s, p.head.Time, true, false)
	}
	m.counts.Joined += int64(p.count - done)
	return false
}

// ranText is the key of a text that was executed, and of the body that its EXECUTE ran.
type ranText struct {
	Key  uint64 `cbor:"1,keyasint"`
	Body uint64 `cbor:"2,keyasint,omitempty"`
}

// maxRan is how many executions of a session may wait for their plans at a time: portals and cursors that are open.
const maxRan = 16

// remember notes an execution whose plan has not come before it: auto_explain writes one when its portal is closed, which in the extended
// protocol, and of a cursor, is after the execution was logged.
func (s *session) remember(key uint64, list []heldStmt) {
	t := ranText{Key: key}
	any := false
	for i := range list {
		any = any || list[i].opaque != nil || list[i].info.plannable || list[i].info.verb == verbExecute
	}
	if !any {
		return
	}
	if len(list) == 1 {
		t.Body = s.bodyKey(&list[0])
	}
	if len(s.ran) == maxRan {
		s.ran = s.ran[:copy(s.ran, s.ran[1:])]
	}
	s.ran = append(s.ran, t)
}

// recall finds the execution that a plan belongs to.
func (s *session) recall(key uint64) bool {
	for i, t := range s.ran {
		if t.Key == key || t.Body == key && key != 0 {
			s.ran = slices.Delete(s.ran, i, i+1)
			return true
		}
	}
	return false
}

// bodyKey is the key of the text that an EXECUTE runs, 0 if it is not known.
func (s *session) bodyKey(st *heldStmt) uint64 {
	p := st.body
	if p == nil && st.info.verb == verbExecute {
		p = s.names[st.name]
	}
	if p == nil || st.info.verb != verbExecute {
		return 0
	}
	return p.key
}
