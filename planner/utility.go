package planner

import (
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/facts"
	"github.com/foreshard/foreshard/planner/policy"
	"github.com/foreshard/foreshard/planner/reason"
)

// utility judges a statement that is no query, or the wrapper around one.
func (j *judge) utility(u *facts.Utility) result {
	switch u.Kind {
	case facts.UtilTransaction, facts.UtilTwoPhase, facts.UtilSession, facts.UtilPrepare:
		j.noteSession(u)
		return result{class: Session}
	case facts.UtilNotify:
		j.note(reason.ListenNotify, u.Pos, reason.Args{})
		return result{class: Session}
	case facts.UtilExecute: // the statement it runs was prepared elsewhere
		return j.unknownUtility(u, "the prepared statement is not part of this text")
	case facts.UtilDeclare:
		j.note(reason.Cursor, u.Pos, reason.Args{Name: u.Name})
		return j.wrapped()
	case facts.UtilExplain:
		r := j.wrapped()
		r.write = r.write && slices.Contains(u.Flags, "analyze")
		return r
	case facts.UtilCopy:
		return j.copyRows(u)
	case facts.UtilCreateTableAs:
		return j.createAs(u)
	case facts.UtilCreateTable, facts.UtilAlterTable, facts.UtilCreateIndex:
		return j.changeTable(u)
	case facts.UtilDrop, facts.UtilTruncate, facts.UtilLockTable, facts.UtilMaintenance, facts.UtilTrigger:
		return j.wholeTables(u)
	case facts.UtilSequence:
		j.note(reason.Sequence, u.Pos, reason.Args{Name: u.Name})
		return result{class: Unsharded}
	case facts.UtilCall:
		return j.call(u)
	case facts.UtilDo:
		return j.unknownUtility(u, "a DO block may do anything")
	case facts.UtilDDL:
		j.note(reason.DDLBroadcast, u.Pos, reason.Args{Name: u.Verb})
		j.feature(policy.BroadcastDDL)
		return result{class: Broadcast}
	case facts.UtilOther:
		if u.Name == "empty" {
			return result{class: Session}
		}
	}
	return j.unknownUtility(u, "")
}

func (j *judge) noteSession(u *facts.Utility) {
	switch {
	case u.Kind == facts.UtilTransaction:
		if slices.Contains(u.Flags, "serializable") || slices.Contains(u.Flags, "repeatable_read") {
			j.note(reason.IsolationPerShard, u.Pos, reason.Args{})
		}
	case u.Verb == "listen" || u.Verb == "unlisten":
		j.note(reason.ListenNotify, u.Pos, reason.Args{})
	case u.Verb == "fetch" || u.Verb == "move" || u.Verb == "close":
		j.note(reason.Cursor, u.Pos, reason.Args{Name: u.Name})
	default:
		j.note(reason.SessionState, u.Pos, reason.Args{Name: u.Name})
	}
}

func (j *judge) unknownUtility(u *facts.Utility, detail string) result {
	j.note(reason.OpaqueFunction, u.Pos, reason.Args{Function: u.Name, Detail: detail})
	return result{class: Unknown}
}

// wrapped judges the query inside EXPLAIN, DECLARE and the like.
func (j *judge) wrapped() result {
	if j.st.Query == nil {
		j.note(reason.UnsupportedSyntax, -1, reason.Args{})
		return result{class: Unknown}
	}
	return j.query(j.st.Query)
}

// placements sorts the tables of a utility statement by where they live.
type placements struct {
	sharded, reference, local, undecided []string
}

func (j *judge) placements(tables, missing []string) placements {
	var p placements
	for _, key := range tables {
		switch t := j.p.cand.Table(key); {
		case t.Placement == candidate.Sharded:
			p.sharded = append(p.sharded, key)
		case t.Placement == candidate.Reference:
			p.reference = append(p.reference, key)
		case t.Placement == candidate.Unsharded || strings.HasPrefix(key, "pg_catalog.") || strings.HasPrefix(key, "information_schema."):
			p.local = append(p.local, key)
		default:
			p.undecided = append(p.undecided, key)
			code := reason.UndecidedTable
			if slices.Contains(missing, key) {
				code = reason.UnknownTable
			}
			j.note(code, -1, reason.Args{Table: key})
		}
	}
	return p
}

func (p placements) spread() bool { return len(p.sharded)+len(p.reference) > 0 }

// copyRows judges COPY.
func (j *judge) copyRows(u *facts.Utility) result {
	if j.st.Query != nil {
		return j.wrapped()
	}
	p := j.placements(u.Tables, u.Missing)
	r := result{write: u.Write && p.spread()}
	for _, e := range u.Args {
		walkExpr(e, func(x *facts.Expr) { j.scanExpr(x, place{}) })
	}
	switch {
	case len(p.undecided) > 0 || j.seen.opaque:
		r.class = Unknown
	case u.Temp:
		r.class = Session
	case len(p.sharded) > 0 && u.Write:
		return j.copyIn(u, p.sharded[0], r)
	case len(p.sharded) > 0:
		j.note(reason.KeyMissing, u.Pos, j.tableArgs(p.sharded[0]))
		j.feature(policy.Concat)
		r.class = Scatter
	case len(p.reference) > 0 && u.Write:
		j.note(reason.ReferenceWrite, u.Pos, reason.Args{Table: p.reference[0]})
		j.feature(policy.TwoPhaseCommit)
		r.class = Broadcast
	case len(p.reference) > 0:
		r.class = Reference
	default:
		r.class = Unsharded
	}
	if u.Write {
		j.copyTriggers(u, &r)
	}
	return r
}

func (j *judge) copyTriggers(u *facts.Utility, r *result) {
	for _, key := range u.Tables {
		if rel := j.p.cat.Relations[key]; rel != nil {
			if j.scanTriggers(rel, []string{"insert"}, u.Pos); j.seen.opaque {
				r.class = Unknown
			}
		}
	}
}

func (j *judge) tableArgs(key string) reason.Args {
	a := reason.Args{Table: key}
	if t := j.p.cand.Table(key); t.Colo != nil {
		a.Column, a.Colo = t.Column, t.Colo.Name
	}
	return a
}

// copyIn judges COPY FROM into a sharded table: each row goes to the shard of its key.
func (j *judge) copyIn(u *facts.Utility, key string, r result) result {
	t := j.p.cand.Table(key)
	args := j.tableArgs(key)
	if !slices.Contains(u.Columns, t.Column) {
		rel := j.p.cat.Relations[key]
		if rel == nil || rel.Column(t.Column) < 0 || noDefault(&rel.Columns[rel.Column(t.Column)]) {
			j.note(reason.InsertKeyMissing, u.Pos, args)
			r.class = Reject
			return r
		}
		j.feature(policy.KeyGeneration)
	}
	j.note(reason.InsertMultiRow, u.Pos, args)
	j.feature(policy.SplitInsert)
	j.feature(policy.TwoPhaseCommit)
	r.class = MultiShard
	return r
}

func noDefault(c *catalog.Column) bool { return c.Default == "" && !c.Identity }

// createAs judges CREATE TABLE AS, SELECT INTO and CREATE MATERIALIZED VIEW: the rows go to the original database, or, for a temporary table,
// stay on the connection that made them.
func (j *judge) createAs(u *facts.Utility) result {
	r := j.wrapped()
	if u.Temp {
		j.note(reason.TempTable, u.Pos, reason.Args{Table: u.Name})
	}
	switch r.class {
	case Unknown, Invalid, Reject, Unsharded:
	case Reference:
		r.class = Unsharded // a reference copy sits beside the unsharded tables
		r.shards.Kind = ""
	default:
		if u.Temp && (r.class == SingleShard || r.class == None) {
			return r
		}
		r = result{class: MultiPhase, binds: r.binds, pairs: r.pairs, write: r.write}
		j.feats = j.feats[:0]
		j.feature(policy.Subplan)
	}
	return r
}

// wholeTables judges what concerns tables as a whole.
func (j *judge) wholeTables(u *facts.Utility) result {
	p := j.placements(u.Tables, u.Missing)
	row := u.Kind == facts.UtilTruncate || u.Kind == facts.UtilLockTable
	r := result{write: row && p.spread()}
	switch {
	case u.Temp && !p.spread():
		r.class = Session
	case len(p.undecided) > 0:
		r.class = Unknown
		if !row && slices.Equal(p.undecided, u.Missing) && len(u.Missing) == len(u.Tables) && u.Kind == facts.UtilDrop && slices.Contains(u.Flags, "if_exists") {
			r.class = Unsharded // nothing of the schema is dropped
		}
	case p.spread():
		r.class = Broadcast
	case len(p.local) > 0:
		r.class = Unsharded
	case u.Kind == facts.UtilDrop && u.Verb == "drop_sequence":
		r.class = Unsharded
	default:
		r.class = Broadcast
	}
	if r.class != Broadcast {
		return r
	}
	for _, key := range p.reference {
		if row {
			j.note(reason.ReferenceWrite, u.Pos, reason.Args{Table: key})
		}
	}
	if row {
		j.feature(policy.TwoPhaseCommit)
		if u.Kind == facts.UtilLockTable {
			j.note(reason.RowLock, u.Pos, reason.Args{})
		} else if len(p.sharded) > 0 {
			j.note(reason.CrossShardWrite, u.Pos, j.tableArgs(p.sharded[0]))
		}
		for _, key := range append(slices.Clone(p.sharded), p.reference...) {
			if rel := j.p.cat.Relations[key]; rel != nil && u.Kind == facts.UtilTruncate {
				if j.scanTriggers(rel, []string{"truncate"}, u.Pos); j.seen.opaque {
					r.class = Unknown
				}
			}
		}
		return r
	}
	j.noteDDL(u)
	return r
}

func (j *judge) noteDDL(u *facts.Utility) {
	args := reason.Args{Name: u.Verb}
	if len(u.Tables) > 0 {
		args.Table = u.Tables[0]
	}
	j.note(reason.DDLBroadcast, u.Pos, args)
	j.feature(policy.BroadcastDDL)
}

// call judges CALL: a procedure's body is not seen, so that the candidate has to say what it touches.
func (j *judge) call(u *facts.Utility) result {
	f, ok := j.p.annotation(u.Name)
	if !ok || !f.Known {
		return j.unknownUtility(u, "")
	}
	p := j.placements(f.Tables, nil)
	for _, e := range u.Args {
		walkExpr(e, func(x *facts.Expr) { j.scanExpr(x, place{}) })
	}
	switch {
	case len(p.undecided) > 0 || j.seen.opaque:
		return result{class: Unknown}
	case p.spread():
		j.note(reason.OpaqueFunction, u.Pos, reason.Args{Function: u.Name, Detail: "the candidate names its tables, not its keys"})
		j.feature(policy.Subplan)
		return result{class: MultiPhase, write: true}
	}
	return result{class: Unsharded}
}
