package pglog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
	"github.com/fxamacker/cbor/v2"
)

// stateVersion is the version of the saved form below.
const stateVersion = 1

// The saved form of a machine: templates by text and slots, values as hashes. It holds names of users, databases and prepared statements
// and search paths, and no values.
type savedState struct {
	Version   int             `cbor:"1,keyasint"`
	Templates []savedTemplate `cbor:"2,keyasint"`
	Sessions  []savedSession  `cbor:"3,keyasint"`
	Seq       int64           `cbor:"4,keyasint"`
	Windows   []window        `cbor:"5,keyasint,omitempty"`
}

type savedTemplate struct {
	Text  string `cbor:"1,keyasint"`
	Slots string `cbor:"2,keyasint,omitempty"` // as sqltext encodes them
}

type savedSession struct {
	Key         string          `cbor:"1,keyasint"`
	Seen        int64           `cbor:"2,keyasint"`
	User        string          `cbor:"3,keyasint,omitempty"`
	Database    string          `cbor:"4,keyasint,omitempty"`
	App         string          `cbor:"5,keyasint,omitempty"`
	Client      string          `cbor:"6,keyasint,omitempty"`
	SetApp      string          `cbor:"7,keyasint,omitempty"`
	Search      string          `cbor:"8,keyasint,omitempty"`
	Saved       string          `cbor:"9,keyasint,omitempty"`
	BeforeLocal string          `cbor:"10,keyasint,omitempty"`
	Local       bool            `cbor:"11,keyasint,omitempty"`
	Pending     *savedHeld      `cbor:"12,keyasint,omitempty"`
	Bind        *savedHeld      `cbor:"13,keyasint,omitempty"`
	Plan        *savedHeld      `cbor:"14,keyasint,omitempty"`
	Names       []savedPrepared `cbor:"15,keyasint,omitempty"`
	Txn         savedTxn        `cbor:"16,keyasint"`
	Ran         []ranText       `cbor:"17,keyasint,omitempty"`
	Number      uint64          `cbor:"18,keyasint,omitempty"`
	Done        uint64          `cbor:"19,keyasint,omitempty"`
}

type savedHeld struct {
	Head     head        `cbor:"1,keyasint"`
	Key      uint64      `cbor:"2,keyasint"`
	Duration int64       `cbor:"3,keyasint,omitempty"`
	Timed    bool        `cbor:"4,keyasint,omitempty"`
	Bad      bool        `cbor:"5,keyasint,omitempty"`
	Stmts    []savedStmt `cbor:"6,keyasint"`
	Count    int         `cbor:"7,keyasint,omitempty"`
	Each     []int64     `cbor:"8,keyasint,omitempty"`
	Planned  bool        `cbor:"9,keyasint,omitempty"`
}

type savedStmt struct {
	Template int              `cbor:"1,keyasint"` // index in Templates; -1 none
	Opaque   *capture.Opaque  `cbor:"2,keyasint,omitempty"`
	Team     string           `cbor:"3,keyasint,omitempty"`
	Endpoint string           `cbor:"4,keyasint,omitempty"`
	Name     string           `cbor:"5,keyasint,omitempty"`
	Set      *sqltext.Setting `cbor:"6,keyasint,omitempty"`
	Search   bool             `cbor:"7,keyasint,omitempty"`
	Values   []capture.Value  `cbor:"8,keyasint,omitempty"`
	Body     *savedPrepared   `cbor:"9,keyasint,omitempty"`
}

type savedPrepared struct {
	Name     string          `cbor:"1,keyasint,omitempty"`
	Key      uint64          `cbor:"2,keyasint"`
	Template int             `cbor:"3,keyasint"`
	Opaque   *capture.Opaque `cbor:"4,keyasint,omitempty"`
	Team     string          `cbor:"5,keyasint,omitempty"`
	Endpoint string          `cbor:"6,keyasint,omitempty"`
	Values   []capture.Value `cbor:"7,keyasint,omitempty"`
	Binds    []int           `cbor:"8,keyasint,omitempty"`
}

type savedTxn struct {
	Next         uint64 `cbor:"1,keyasint"`
	Open         bool   `cbor:"2,keyasint,omitempty"`
	Explicit     bool   `cbor:"3,keyasint,omitempty"`
	ByVxid       bool   `cbor:"4,keyasint,omitempty"`
	Aborted      bool   `cbor:"5,keyasint,omitempty"`
	Partial      bool   `cbor:"6,keyasint,omitempty"`
	Serializable bool   `cbor:"7,keyasint,omitempty"`
	ByDefault    bool   `cbor:"8,keyasint,omitempty"`
	Lxid         uint64 `cbor:"9,keyasint,omitempty"`
	Start        int64  `cbor:"10,keyasint,omitempty"`
	LastTime     int64  `cbor:"11,keyasint,omitempty"`
	Statements   int    `cbor:"12,keyasint,omitempty"`
	Savepoints   int    `cbor:"13,keyasint,omitempty"`
	AutoLxid     uint64 `cbor:"14,keyasint,omitempty"`
	AutoTime     int64  `cbor:"15,keyasint,omitempty"`
	AutoFailed   bool   `cbor:"16,keyasint,omitempty"`
}

// saver numbers the templates of a state.
type saver struct {
	state savedState
	index map[sqltext.ID]int
}

// state saves the machine.
func (m *machine) state() ([]byte, error) {
	w := saver{state: savedState{Version: stateVersion, Seq: m.seq}, index: map[sqltext.ID]int{}}
	for _, s := range m.sorted() {
		w.state.Sessions = append(w.state.Sessions, w.session(s))
	}
	for _, x := range m.windows {
		if len(x.Taken) > 0 {
			w.state.Windows = append(w.state.Windows, *x)
		}
	}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return nil, fmt.Errorf("save sessions: %w", err)
	}
	b, err := mode.Marshal(&w.state)
	if err != nil {
		return nil, fmt.Errorf("save sessions: %w", err)
	}
	return b, nil
}

func (w *saver) template(in *info) int {
	if in == nil || in.template == nil {
		return -1
	}
	i, ok := w.index[in.template.ID]
	if !ok {
		i = len(w.state.Templates)
		w.index[in.template.ID] = i
		w.state.Templates = append(w.state.Templates, savedTemplate{in.template.Text, sqltext.EncodeSlots(in.template.Slots)})
	}
	return i
}

func (w *saver) session(s *session) savedSession {
	t := &s.txn
	out := savedSession{
		Key: s.key, Seen: s.seen, User: s.user, Database: s.db, App: s.app, Client: s.client, SetApp: s.setApp,
		Search: s.search, Saved: s.saved, BeforeLocal: s.beforeLocal, Local: s.local,
		Pending: w.held(&s.pending), Bind: w.held(&s.bind), Plan: w.held(&s.plan), Ran: slices.Clone(s.ran),
		Number: s.number, Done: s.done,
		Txn: savedTxn{t.next, t.open, t.explicit, t.byVxid, t.aborted, t.partial, t.serializable, t.byDefault, t.lxid, t.start, t.lastTime, t.statements, t.savepoints, t.autoLxid, t.autoTime, t.autoFailed},
	}
	names := make([]string, 0, len(s.names))
	for n := range s.names {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		p := w.prepared(s.names[n])
		p.Name = n
		out.Names = append(out.Names, *p)
	}
	return out
}

func (w *saver) held(h *held) *savedHeld {
	if !h.on {
		return nil
	}
	out := &savedHeld{Head: h.head, Key: h.key, Duration: h.duration, Timed: h.timed, Bad: h.bad, Count: h.count, Each: h.each, Planned: h.planned}
	for i := range h.stmts {
		st := &h.stmts[i]
		out.Stmts = append(out.Stmts, savedStmt{w.template(st.info), st.opaque, st.team, st.endpoint, st.name, st.set, st.search, st.values, w.prepared(st.body)})
	}
	return out
}

func (w *saver) prepared(p *prepared) *savedPrepared {
	if p == nil {
		return nil
	}
	return &savedPrepared{"", p.key, w.template(p.info), p.opaque, p.team, p.endpoint, p.values, p.binds}
}

// loader makes a machine's parts of a saved state.
type loader struct{ infos []*info }

// restore loads what state saved.
func (m *machine) restore(b []byte) error {
	var in savedState
	if err := cbor.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("restore sessions: %w", err)
	}
	if in.Version != stateVersion {
		return fmt.Errorf("restore sessions: state has version %d, this program reads %d", in.Version, stateVersion)
	}
	var l loader
	for i := range in.Templates {
		t := &in.Templates[i]
		slots, err := sqltext.DecodeSlots(t.Slots)
		if err != nil {
			return fmt.Errorf("restore sessions: %w", err)
		}
		l.infos = append(l.infos, inspect(sqltext.NewTemplate(t.Text, slots)))
	}
	m.seq = in.Seq
	for i := range in.Windows {
		at := in.Windows[i].Offset
		for _, t := range in.Windows[i].Taken {
			if t[0] < at || t[1] <= t[0] {
				return errDamaged
			}
			at = t[1]
		}
		m.windows = append(m.windows, &in.Windows[i])
	}
	for i := range in.Sessions {
		s, err := l.session(&in.Sessions[i])
		if err != nil {
			return err
		}
		m.sessions[s.key] = s
	}
	m.counts.restored = m.pendingStatements()
	return nil
}

func (l *loader) session(in *savedSession) (*session, error) {
	s := &session{
		key: in.Key, seen: in.Seen, user: in.User, db: in.Database, app: in.App, client: in.Client, setApp: in.SetApp,
		search: in.Search, saved: in.Saved, beforeLocal: in.BeforeLocal, local: in.Local, ran: in.Ran[:min(len(in.Ran), maxRan)], number: in.Number, done: in.Done,
	}
	x := &in.Txn
	s.txn = txn{x.Next, x.Open, x.Explicit, x.ByVxid, x.Aborted, x.Partial, x.Serializable, x.ByDefault, x.Lxid, x.Start, x.LastTime, x.Statements, x.Savepoints, x.AutoLxid, x.AutoTime, x.AutoFailed}
	for _, h := range []struct {
		from *savedHeld
		to   *held
	}{{in.Pending, &s.pending}, {in.Bind, &s.bind}, {in.Plan, &s.plan}} {
		if h.from == nil {
			continue
		}
		if err := l.held(h.from, h.to); err != nil {
			return nil, err
		}
	}
	for i := range in.Names {
		p, err := l.prepared(&in.Names[i])
		if err != nil {
			return nil, err
		}
		if s.names == nil {
			s.names = map[string]*prepared{}
		}
		s.names[in.Names[i].Name] = p
	}
	return s, nil
}

var errDamaged = errors.New("restore sessions: the state is damaged")

func (l *loader) info(i int) (*info, error) {
	if i < 0 {
		return nothing, nil
	}
	if i >= len(l.infos) {
		return nil, errDamaged
	}
	return l.infos[i], nil
}

func (l *loader) held(in *savedHeld, to *held) error {
	*to = held{on: true, head: in.Head, key: in.Key, duration: in.Duration, timed: in.Timed, bad: in.Bad, count: in.Count, each: in.Each, planned: in.Planned}
	for i := range in.Stmts {
		st := &in.Stmts[i]
		inf, err := l.info(st.Template)
		if err != nil {
			return err
		}
		if (inf == nothing) == (st.Opaque == nil) {
			return errDamaged
		}
		h := heldStmt{info: inf, opaque: st.Opaque, team: st.Team, endpoint: st.Endpoint, name: st.Name, set: st.Set, search: st.Search, values: st.Values}
		if st.Body != nil {
			if h.body, err = l.prepared(st.Body); err != nil {
				return err
			}
		}
		to.stmts = append(to.stmts, h)
	}
	if len(to.stmts) == 0 || len(to.each) != to.count {
		return errDamaged
	}
	return nil
}

func (l *loader) prepared(in *savedPrepared) (*prepared, error) {
	inf, err := l.info(in.Template)
	if err != nil {
		return nil, err
	}
	if (inf == nothing) == (in.Opaque == nil) || inf != nothing && len(in.Binds) != len(in.Values) {
		return nil, errDamaged
	}
	return &prepared{key: in.Key, info: inf, opaque: in.Opaque, team: in.Team, endpoint: in.Endpoint, values: in.Values, binds: in.Binds}, nil
}
