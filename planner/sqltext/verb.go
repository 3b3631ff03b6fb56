package sqltext

// Verb is what a statement does, by its first words.
type Verb uint8

// The verbs that capture and analysis tell apart. A query in parentheses has the verb of its first word.
const (
	VerbOther Verb = iota
	VerbSelect
	VerbInsert
	VerbUpdate
	VerbDelete
	VerbMerge
	VerbWith
	VerbValues
	VerbTable
	VerbBegin          // BEGIN, START TRANSACTION
	VerbCommit         // COMMIT, END
	VerbRollback       // ROLLBACK, ABORT
	VerbSavepoint      // SAVEPOINT
	VerbRelease        // RELEASE SAVEPOINT
	VerbRollbackTo     // ROLLBACK TO SAVEPOINT
	VerbPrepareTxn     // PREPARE TRANSACTION: the session's transaction ends
	VerbCommitPrepared // COMMIT PREPARED: another transaction's end
	VerbRollbackPrepared
	VerbSet     // SET [SESSION | LOCAL] name
	VerbReset   // RESET name, RESET ALL
	VerbDiscard // DISCARD
	VerbPrepare
	VerbExecute
	VerbDeallocate
	VerbCopy
	VerbCall
	VerbDo
	VerbExplain
	VerbDeclare
	VerbFetch
	VerbMove
	VerbClose
)

var verbs = map[kw]Verb{
	kwSelect: VerbSelect, kwInsert: VerbInsert, kwUpdate: VerbUpdate, kwDelete: VerbDelete, kwMerge: VerbMerge, kwWith: VerbWith,
	kwValues: VerbValues, kwTable: VerbTable, kwBegin: VerbBegin, kwStart: VerbBegin, kwEnd: VerbCommit, kwAbort: VerbRollback,
	kwSavepoint: VerbSavepoint, kwRelease: VerbRelease, kwSet: VerbSet, kwReset: VerbReset, kwDiscard: VerbDiscard, kwExecute: VerbExecute,
	kwDeallocate: VerbDeallocate, kwCopy: VerbCopy, kwCall: VerbCall, kwDo: VerbDo, kwExplain: VerbExplain, kwDeclare: VerbDeclare,
	kwFetch: VerbFetch, kwMove: VerbMove, kwClose: VerbClose,
}

// Ends says whether a statement of this verb ends the session's transaction.
func (v Verb) Ends() bool { return v == VerbCommit || v == VerbRollback || v == VerbPrepareTxn }

func verbOf(tokens []token) Verb {
	i := 0
	for i < len(tokens)-1 && tokens[i].kind == kLParen {
		i++
	}
	first := tokens[i].id
	has := func(n int, id kw) bool { return i+n < len(tokens) && tokens[i+n].id == id }
	switch first {
	case kwSelect:
		return VerbSelect
	case kwPrepare:
		if has(1, kwTransaction) {
			return VerbPrepareTxn
		}
		return VerbPrepare
	case kwCommit:
		if has(1, kwPrepared) {
			return VerbCommitPrepared
		}
		return VerbCommit
	case kwRollback:
		if has(1, kwPrepared) {
			return VerbRollbackPrepared
		}
		if has(1, kwTo) || has(2, kwTo) {
			return VerbRollbackTo
		}
		return VerbRollback
	}
	return verbs[first]
}

// VerbOf gives the verb of a text's first statement.
func VerbOf(text string) Verb {
	var s Scanner
	s.Reset([]byte(text))
	if !s.Next() {
		return VerbOther
	}
	return s.stmt.Verb
}
