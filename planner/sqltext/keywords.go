package sqltext

// kw is a keyword of PostgreSQL 17; kwNone is any other word.
type kw uint16

// The keywords that the scanner tells apart. The others have numbers after kwLast.
const (
	kwNone kw = iota
	kwAbort
	kwAll
	kwAlter
	kwAnalyze
	kwAnd
	kwArray
	kwAs
	kwAsc
	kwAsymmetric
	kwAt
	kwAtomic
	kwAuthorization
	kwBegin
	kwBetween
	kwBigint
	kwBit
	kwBoolean
	kwBoth
	kwBy
	kwCall
	kwCase
	kwChain
	kwChar
	kwCharacter
	kwCharacteristics
	kwCheckpoint
	kwClose
	kwCluster
	kwCollate
	kwComment
	kwCommit
	kwConstraints
	kwCopy
	kwCreate
	kwCross
	kwCube
	kwCurrent
	kwCurrentTime
	kwCurrentTimestamp
	kwCursor
	kwDay
	kwDeallocate
	kwDec
	kwDecimal
	kwDeclare
	kwDefault
	kwDelete
	kwDesc
	kwDiscard
	kwDistinct
	kwDo
	kwDouble
	kwDrop
	kwElse
	kwEnd
	kwEscape
	kwExcept
	kwExecute
	kwExplain
	kwExtract
	kwFalse
	kwFetch
	kwFilter
	kwFirst
	kwFloat
	kwFor
	kwFrom
	kwFull
	kwFunction
	kwGlobal
	kwGrant
	kwGroup
	kwGrouping
	kwGroups
	kwHaving
	kwHold
	kwHour
	kwIlike
	kwImport
	kwIn
	kwInner
	kwInsert
	kwInt
	kwInteger
	kwIntersect
	kwInterval
	kwInto
	kwIs
	kwIsnull
	kwJoin
	kwJson
	kwJsonTable
	kwLateral
	kwLeading
	kwLeft
	kwLike
	kwLimit
	kwListen
	kwLoad
	kwLocal
	kwLocaltime
	kwLocaltimestamp
	kwLock
	kwMaterialized
	kwMerge
	kwMinute
	kwMonth
	kwMove
	kwName
	kwNational
	kwNatural
	kwNchar
	kwNext
	kwNot
	kwNotify
	kwNotnull
	kwNull
	kwNulls
	kwNumeric
	kwOffset
	kwOn
	kwOnly
	kwOperator
	kwOr
	kwOrder
	kwOuter
	kwOver
	kwOverlaps
	kwPartition
	kwPassing
	kwPath
	kwPlacing
	kwPrecision
	kwPrepare
	kwPrepared
	kwProcedure
	kwRange
	kwReal
	kwReassign
	kwRecursive
	kwRefresh
	kwReindex
	kwRelease
	kwReplace
	kwReset
	kwReturning
	kwRevoke
	kwRight
	kwRollback
	kwRollup
	kwRows
	kwSavepoint
	kwSecond
	kwSecurity
	kwSelect
	kwSession
	kwSet
	kwSets
	kwShow
	kwSimilar
	kwSmallint
	kwStart
	kwSymmetric
	kwTable
	kwTemp
	kwTemporary
	kwText
	kwThen
	kwTime
	kwTimestamp
	kwTo
	kwTrailing
	kwTransaction
	kwTrue
	kwTruncate
	kwUescape
	kwUnion
	kwUnique
	kwUnlisten
	kwUpdate
	kwUsing
	kwVacuum
	kwValues
	kwVarchar
	kwVariadic
	kwVarying
	kwWhen
	kwWhere
	kwWindow
	kwWith
	kwWithin
	kwWork
	kwXml
	kwYear
	kwZone
	kwLast
)

// The flags of a keyword.
const (
	fExpr   = 1 << iota // an expression may follow directly: a minus after it is a sign, a string after it is a value
	fSpace              // a blank goes between it and an opening parenthesis
	fClause             // ends the item list of ORDER BY and GROUP BY
	fReset              // begins a new operator chain
	fChain              // adds a level to the parse tree
	fStruct             // adds a level that holds until the parenthesis closes
	fType               // a type or function whose parenthesis holds nothing but a type modifier
)

// keywordFlags is indexed by kw; a keyword not named here has none.
var keywordFlags = [kwLast]uint8{
	kwCopy:             fSpace,
	kwExplain:          fSpace,
	kwAll:              fExpr | fSpace,
	kwAnd:              fExpr | fSpace | fReset,
	kwAs:               fSpace,
	kwAsymmetric:       fExpr | fSpace,
	kwAt:               fSpace | fChain,
	kwBetween:          fExpr | fSpace | fChain,
	kwBit:              fType,
	kwBoth:             fExpr | fSpace,
	kwBy:               fExpr | fSpace,
	kwCase:             fExpr | fSpace,
	kwChar:             fType,
	kwCharacter:        fType,
	kwCollate:          fSpace | fChain,
	kwCross:            fSpace,
	kwCurrentTime:      fType,
	kwCurrentTimestamp: fType,
	kwDec:              fType,
	kwDecimal:          fType,
	kwDefault:          fExpr | fSpace,
	kwDelete:           fSpace | fClause | fReset,
	kwDistinct:         fExpr | fSpace,
	kwElse:             fExpr | fSpace | fReset,
	kwEnd:              fSpace,
	kwEscape:           fExpr | fSpace,
	kwExcept:           fSpace | fClause | fReset | fStruct,
	kwFetch:            fSpace | fClause | fReset,
	kwFilter:           fSpace,
	kwFirst:            fExpr,
	kwFloat:            fType,
	kwFor:              fExpr | fSpace | fClause | fReset,
	kwFrom:             fExpr | fSpace | fClause | fReset,
	kwFull:             fSpace,
	kwGroup:            fSpace,
	kwGroups:           fExpr,
	kwHaving:           fExpr | fSpace | fClause | fReset,
	kwIlike:            fExpr | fSpace | fChain,
	kwIn:               fExpr | fSpace | fChain,
	kwInner:            fSpace,
	kwInsert:           fSpace | fClause | fReset,
	kwIntersect:        fSpace | fClause | fReset | fStruct,
	kwInterval:         fType,
	kwInto:             fSpace | fClause | fReset,
	kwIs:               fExpr | fSpace | fChain,
	kwIsnull:           fSpace | fChain,
	kwJoin:             fSpace | fReset | fStruct,
	kwLateral:          fSpace,
	kwLeading:          fExpr | fSpace,
	kwLike:             fExpr | fSpace | fChain,
	kwLimit:            fExpr | fSpace | fClause | fReset,
	kwLocaltime:        fType,
	kwLocaltimestamp:   fType,
	kwMaterialized:     fSpace,
	kwMerge:            fSpace | fClause | fReset,
	kwNatural:          fSpace,
	kwNchar:            fType,
	kwNext:             fExpr,
	kwNot:              fExpr | fSpace | fChain,
	kwNotnull:          fSpace | fChain,
	kwNumeric:          fType,
	kwOffset:           fExpr | fSpace | fClause | fReset,
	kwOn:               fExpr | fSpace | fReset,
	kwOnly:             fSpace,
	kwOperator:         fChain,
	kwOr:               fExpr | fSpace | fReset,
	kwOrder:            fSpace,
	kwOuter:            fSpace,
	kwOver:             fSpace,
	kwOverlaps:         fExpr | fSpace | fChain,
	kwPartition:        fSpace,
	kwPassing:          fExpr,
	kwPlacing:          fExpr | fSpace,
	kwRange:            fExpr,
	kwReturning:        fExpr | fSpace | fClause | fReset,
	kwRows:             fExpr,
	kwSelect:           fExpr | fSpace | fClause | fReset,
	kwSet:              fSpace | fClause | fReset,
	kwSimilar:          fSpace | fChain,
	kwSymmetric:        fExpr | fSpace,
	kwTable:            fSpace | fClause | fReset,
	kwThen:             fExpr | fSpace | fReset,
	kwTime:             fType,
	kwTimestamp:        fType,
	kwTo:               fExpr | fSpace,
	kwTrailing:         fExpr | fSpace,
	kwUnion:            fSpace | fClause | fReset | fStruct,
	kwUpdate:           fSpace | fClause | fReset,
	kwUsing:            fExpr | fSpace | fClause | fReset,
	kwValues:           fSpace | fClause | fReset,
	kwVarchar:          fType,
	kwVariadic:         fExpr | fSpace,
	kwWhen:             fExpr | fSpace | fReset,
	kwWhere:            fExpr | fSpace | fClause | fReset,
	kwWindow:           fExpr | fSpace | fClause | fReset,
	kwWith:             fSpace | fClause | fReset,
	kwWithin:           fSpace,
}

// unreserved keywords may name anything.
const unreserved = `abort absent absolute access action add admin after aggregate also alter always asensitive assertion assignment at atomic attach attribute backward
before begin breadth by cache call called cascade cascaded catalog chain characteristics checkpoint class close cluster columns comment comments
commit committed compression conditional configuration conflict connection constraints content continue conversion copy cost csv cube current cursor
cycle data database day deallocate declare defaults deferred definer delete delimiter delimiters depends depth detach dictionary disable discard
document domain double drop each empty enable encoding encrypted enum error escape event exclude excluding exclusive execute explain expression
extension external family filter finalize first following force format forward function functions generated global granted groups handler header hold
hour identity if immediate immutable implicit import include including increment indent index indexes inherit inherits inline input insensitive insert
instead invoker isolation keep key keys label language large last leakproof level listen load local location lock locked logged mapping match matched
materialized maxvalue merge method minute minvalue mode month move name names nested new next nfc nfd nfkc nfkd no normalized nothing notify nowait
nulls object of off oids old omit operator option options ordinality others over overriding owned owner parallel parameter parser partial partition
passing password path plan plans policy preceding prepare prepared preserve prior privileges procedural procedure procedures program publication quote
quotes range read reassign recheck recursive ref referencing refresh reindex relative release rename repeatable replace replica reset restart restrict
return returns revoke role rollback rollup routine routines rows rule savepoint scalar schema schemas scroll search second security sequence sequences
serializable server session set sets share show simple skip snapshot source sql stable standalone start statement statistics stdin stdout storage
stored strict string strip subscription support sysid system tables tablespace target temp template temporary text ties transaction transform trigger
truncate trusted type types uescape unbounded uncommitted unconditional unencrypted unknown unlisten unlogged until update vacuum valid validate
validator value varying version view views volatile whitespace within without work wrapper write xml year yes zone`

// columnNames keywords may name a column or a table, not a function or a type.
const columnNames = `between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int integer interval json json_array
json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize json_table json_value least merge_action national nchar
none normalize nullif numeric out overlay position precision real row setof smallint substring time timestamp treat trim values varchar xmlattributes
xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`

// typeNames keywords may name a function or a type.
const typeNames = `authorization binary collation concurrently cross current_schema freeze full ilike inner is isnull join left like natural notnull outer overlaps right
similar tablesample verbose`

// reserved keywords name nothing unless quoted.
const reserved = `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create current_catalog current_date current_role
current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign from grant group having in
initially intersect into lateral leading limit localtime localtimestamp not null offset on only or order placing primary references returning select
session_user some symmetric system_user table then to trailing true union unique user using variadic when where window with`

// specialWords gives the constants above their spelling.
const specialWords = `abort all alter analyze and array as asc asymmetric at atomic authorization begin between bigint bit boolean both by call case chain char character
characteristics checkpoint close cluster collate comment commit constraints copy create cross cube current current_time current_timestamp cursor day
deallocate dec decimal declare default delete desc discard distinct do double drop else end escape except execute explain extract false fetch filter
first float for from full function global grant group grouping groups having hold hour ilike import in inner insert int integer intersect interval
into is isnull join json json_table lateral leading left like limit listen load local localtime localtimestamp lock materialized merge minute month
move name national natural nchar next not notify notnull null nulls numeric offset on only operator or order outer over overlaps partition passing
path placing precision prepare prepared procedure range real reassign recursive refresh reindex release replace reset returning revoke right rollback
rollup rows savepoint second security select session set sets show similar smallint start symmetric table temp temporary text then time timestamp to
trailing transaction true truncate uescape union unique unlisten update using vacuum values varchar variadic varying when where window with within
work xml year zone`
