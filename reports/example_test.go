package reports

import (
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis"
)

// hostile is text an application under attack could send: it tries every output at once.
const hostile = "SELECT a.id FROM a JOIN b ON b.x = a.x -- </script><script>document.title='PWNED'</script>\n" +
	"::set-output name=verdict::ready\n##[error]x ##vso[task.complete]\t``` ```` | <b>pipe</b> @everyone #1 \x00 \x1b[31mred\x1b[0m \u202eLTR\u2066 \x9b2J \u009b \xff {{.}} &amp; [l](javascript:x) ](http"

// exampleReport is made by hand so that every list has something in it and no number is round.
func exampleReport() *analysis.Report {
	from := time.Date(2026, 11, 29, 9, 0, 3, 0, time.UTC)
	share := func(total float64, class, readiness map[string]float64) analysis.Share {
		return analysis.Share{Total: total, ByClass: class, ByReadiness: readiness}
	}
	reason := func(code, message, hint string, at int) []analysis.QueryReason {
		return []analysis.QueryReason{{Code: code, Message: message, Hint: hint, Position: at}}
	}
	return &analysis.Report{
		SchemaVersion: 1,
		Ledger: analysis.Ledger{
			Bytes: 1_234_567_890, Records: 2_000_411, Statements: 1_250_017, Executions: 1_000_003, Errors: 17,
			Dropped: map[string]int64{"bad_prefix": 21, "unknown_line": 2}, DroppedBytes: map[string]int64{"bad_prefix": 4_811},
			Unparsed: map[string]int64{"truncated": 4, "syntax": 11}, Buckets: map[string]int64{"execution": 1_000_003, "duration": 700_000, "connection": 300_408},
		},
		Window: analysis.Window{From: from, To: from.Add(3*time.Hour + 41*time.Minute)},
		Sources: []analysis.SourceReport{
			{Name: "postgresql-2026-11-29.log", Format: "stderr", Bytes: 1_234_500_000, Records: 2_000_400, Executions: 1_000_001},
			{Name: "weird\n::name|`x`.csv", Format: "csvlog", Bytes: 67_890, Records: 11, Executions: 2, Incomplete: 120},
		},
		Candidates: []analysis.CandidateReport{
			{
				Name: "by_org", Hash: "5f1c8d", Dialect: "figma",
				Calls: share(1_000_003, map[string]float64{"single_shard": 920_000, "reference": 58_000, "session": 1_803, "scatter": 11_000, "multi_phase": 9_000, "unknown": 200},
					map[string]float64{"ready": 979_803, "costly": 11_000, "blocked": 9_000, "unknown": 200}),
				TimeMS: share(5_400_321.25, map[string]float64{"single_shard": 3_100_000.5, "reference": 40_000, "session": 120.75, "scatter": 1_200_000, "multi_phase": 1_060_000, "unknown": 200},
					map[string]float64{"ready": 3_140_121.25, "costly": 1_200_000, "blocked": 1_060_000, "unknown": 200}),
				Templates: share(431, map[string]float64{"single_shard": 380, "reference": 30, "session": 2, "scatter": 9, "multi_phase": 8, "unknown": 2},
					map[string]float64{"ready": 412, "costly": 9, "blocked": 8, "unknown": 2}),
				Transactions:   analysis.Transactions{Total: 612_400, SingleShard: 601_001, MultiShardRead: 7_399, MultiShardWrite: 3_900, Unknown: 100, Explicit: 80_000, ExplicitSingle: 74_400, ParamDependent: 1_204},
				CrossColoJoins: analysis.CrossColo{Calls: 9_000, TimeMS: 1_060_000, Templates: 8, Pairs: []analysis.ColoPair{{Left: "public.files", Right: "public.users", Calls: 8_100, TimeMS: 900_000, Templates: 6}, {Left: "public.activity_log", Right: "public.users", Calls: 900, TimeMS: 160_000, Templates: 2}}},
				Reasons: []analysis.ReasonReport{
					{Code: "no_key_predicate", Short: "no predicate on the shard key", Hint: `add "org_id" to the WHERE clause`, Calls: 11_000, TimeMS: 1_200_000, Templates: 9, Top: []string{"9a01", "77aa"}},
					{Code: "cross_colo_join", Short: "join of tables in different colos", Hint: "denormalise the key, or read the two sides in two statements", Calls: 9_000, TimeMS: 1_060_000, Templates: 8, Top: []string{"c3d4"}},
					{Code: "opaque_function", Short: "a function whose body is not known", Calls: 200, TimeMS: 200, Templates: 2, Top: []string{"e001"}},
				},
				SchemaFindings: []analysis.SchemaFinding{
					{Code: "unique_off_key", Severity: "breaks", Table: "public.files", Object: "files_slug_key", Kind: "unique constraint", Line: 39, Why: "(slug) is unique among the rows of one shard only", Repair: "ALTER TABLE files DROP CONSTRAINT files_slug_key, ADD CONSTRAINT files_slug_key UNIQUE (org_id, slug)"},
					{Code: "sequence", Severity: "weakens", Table: "public.files", Object: "id", Kind: "sequence", Line: 1040, Why: "each shard counts on its own"},
					{Code: "partition_key", Severity: "info", Table: "public.audit_log", Object: "audit_log", Kind: "partitioned table", Why: "every shard has every partition"},
					{Code: "fk_cross_colo", Severity: "breaks", Table: "public.users", Object: hostile, Kind: "foreign key", Line: 7, Why: hostile, Repair: hostile},
					{Code: "extension", Severity: "info", Object: "pg_trgm", Kind: "extension", Line: 1, Why: "it is needed on every shard", Repair: "CREATE EXTENSION pg_trgm on every shard"},
				},
				LayoutDependentCalls: 12, Undecided: []string{"public.scratch"}, Missing: []string{"public.tmp_import"},
				Queries: []analysis.QueryReport{
					{ID: "9a01", Text: "SELECT id, title FROM files WHERE deleted_at IS NULL ORDER BY created_at DESC LIMIT $1", Class: "scatter", Readiness: "costly", Reasons: reason("no_key_predicate", `table "files": no predicate on shard key "org_id"`, `add "org_id" to the WHERE clause`, 22), Features: []string{"merge_sort", "limit"}, Tables: []string{"public.files"}, Calls: 10_500, TimeMS: 1_150_000, P95MS: 240.5, Teams: []string{"search"}, Endpoints: []string{"GET /files/recent"}, Apps: []string{"web"}},
					{ID: "c3d4", Text: "SELECT f.title, u.handle FROM files f JOIN users u ON u.user_id = f.owner_id WHERE f.org_id = $1", Class: "multi_phase", Readiness: "blocked", Reasons: reason("cross_colo_join", `join "files"–"users": colo "org" and colo "user"`, "read the two sides in two statements", 54), Features: []string{}, Tables: []string{"public.files", "public.users"}, Calls: 8_100, TimeMS: 900_000, P95MS: 812, Teams: []string{"files", "search"}, Endpoints: []string{"files#index"}, Apps: []string{"web"}},
					{ID: "77aa", Text: hostile, Class: "scatter", Readiness: "costly", Reasons: reason("no_key_predicate", hostile, hostile, 17), Features: []string{hostile}, Tables: []string{"public.a", hostile}, Calls: 500, Errors: 3, TimeMS: 50_000, P95MS: 12, Teams: []string{hostile}, Endpoints: []string{hostile}, Apps: []string{hostile}},
					{ID: "e001", Text: "SELECT rebuild_index($1)", Class: "unknown", Readiness: "unknown", Reasons: reason("opaque_function", `function "rebuild_index": its body is not known`, "annotate it in the candidate", 7), Calls: 200, TimeMS: 200, P95MS: 1.5, Tables: []string{}},
					{ID: "long", Text: "SELECT " + strings.Repeat("x", 1<<20), Class: "single_shard", Readiness: "ready", Calls: 100, Tables: []string{"public.files"}},
					{ID: "0001", Text: "SELECT id FROM files WHERE org_id = $1 AND id = $2", Class: "single_shard", Readiness: "ready", Calls: 919_000, TimeMS: 3_000_000, P95MS: 3.2, Tables: []string{"public.files"}, Teams: []string{"files"}, Endpoints: []string{"files#show"}},
					{ID: "0002", Text: "SELECT seat_price FROM plans WHERE plan_code = $1", Class: "reference", Readiness: "ready", Calls: 58_000, TimeMS: 40_000, P95MS: 0.9, Tables: []string{"public.plans"}, Teams: []string{"billing"}},
				},
				Tables: []analysis.TableReport{
					{Table: "public.files", Placement: "sharded", Colo: "org", Key: "org_id", Calls: 937_700, TimeMS: 5_050_000, Templates: 300, ByReadiness: map[string]int64{"ready": 919_100, "costly": 10_500, "blocked": 8_100}},
					{Table: "public.users", Placement: "sharded", Colo: "user", Key: "user_id", Calls: 9_000, TimeMS: 1_060_000, Templates: 8, ByReadiness: map[string]int64{"blocked": 9_000}},
					{Table: "public.plans", Placement: "reference", Calls: 58_000, TimeMS: 40_000, Templates: 30, ByReadiness: map[string]int64{"ready": 58_000}},
					{Table: "public.scratch", Placement: "undecided", Calls: 3, TimeMS: 1, Templates: 1, ByReadiness: map[string]int64{"unknown": 3}},
					{Table: hostile, Placement: "sharded", Colo: "org", Key: hostile, Calls: 2, Templates: 1, ByReadiness: map[string]int64{"ready": 2}},
				},
				Teams: []analysis.TeamReport{
					{Team: "files", Calls: 927_100, Templates: 300, ByReadiness: map[string]int64{"ready": 919_000, "blocked": 8_100}, TemplatesReady: 294},
					{Team: "search", Calls: 11_000, Templates: 12, ByReadiness: map[string]int64{"costly": 11_000}, TemplatesReady: 0},
					{Team: "", Calls: 3_903, Templates: 40, ByReadiness: map[string]int64{"ready": 3_703, "unknown": 200}, TemplatesReady: 38},
					{Team: hostile, Calls: 500, Templates: 1, ByReadiness: map[string]int64{"costly": 500}},
				},
				Writes: exampleWrites(),
				Skew:   []analysis.SkewReport{{Colo: "org", Shards: 64, Calls: 919_000, MaxShare: 0.0801, MaxMean: 5.13}, {Colo: "user", Shards: 64, Calls: 9_000, MaxShare: 0.0161, MaxMean: 1.03}},
			},
		},
	}
}

// twoCandidates adds a candidate that is better at some things and worse at others.
func twoCandidates() *analysis.Report {
	r := exampleReport()
	b := r.Candidates[0]
	b.Name, b.Hash = "by_workspace", "aa21e0"
	b.Calls = analysis.Share{Total: 1_000_003, ByClass: map[string]float64{"single_shard": 999_903, "scatter": 100}, ByReadiness: map[string]float64{"ready": 999_903, "costly": 100}}
	b.Templates = analysis.Share{Total: 431, ByClass: map[string]float64{"single_shard": 430, "scatter": 1}, ByReadiness: map[string]float64{"ready": 430, "costly": 1}}
	b.TimeMS = analysis.Share{Total: 5_400_321.25, ByClass: map[string]float64{"single_shard": 5_400_320.25, "scatter": 1}, ByReadiness: map[string]float64{"ready": 5_400_320.25, "costly": 1}}
	b.Transactions = analysis.Transactions{Total: 612_400, SingleShard: 612_300, Unknown: 100}
	b.CrossColoJoins = analysis.CrossColo{}
	b.Reasons, b.Undecided, b.Missing, b.Skew, b.LayoutDependentCalls = nil, nil, nil, b.Skew[1:], 0
	b.Queries = b.Queries[4:]
	r.Candidates = append(r.Candidates, b)
	r.Flips = []analysis.Flip{
		{ID: "77aa", Text: hostile, Calls: 500, Readiness: map[string]string{"by_org": "costly", "by_workspace": "ready"}, Class: map[string]string{"by_org": "scatter", "by_workspace": "single_shard"}},
		{ID: "c3d4", Text: "SELECT f.title, u.handle FROM files f JOIN users u ON u.user_id = f.owner_id WHERE f.org_id = $1", Calls: 8_100, Readiness: map[string]string{"by_org": "blocked", "by_workspace": "ready"}, Class: map[string]string{"by_org": "multi_phase", "by_workspace": "single_shard"}},
		{ID: "0001", Text: "SELECT id FROM files WHERE org_id = $1 AND id = $2", Calls: 90, Readiness: map[string]string{"by_org": "ready", "by_workspace": "costly"}, Class: map[string]string{"by_org": "single_shard", "by_workspace": "scatter"}},
	}
	return r
}

// exampleWrites is what a WAL told in three hours.
func exampleWrites() *analysis.WriteReport {
	from := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	return &analysis.WriteReport{From: from, To: from.Add(3 * time.Hour), Rows: 1_204_500, Bytes: 310_000_000, RowsPerSecond: 111.5277777, BytesPerSecond: 28_703.7,
		Transactions: analysis.WriteTransactions{Total: 402_100, OneShard: 371_900, OneKey: 351_900, OneShardUnlessMoved: 9_100, CrossShards: 20_100, Broadcast: 100, Unknown: 1_000},
		Placements:   []analysis.PlacementWrites{{Placement: "sharded", Rows: 1_100_400, Bytes: 300_000_000}, {Placement: "reference", Rows: 100, Bytes: 12_000}, {Placement: "unsharded", Rows: 104_000, Bytes: 9_988_000}},
		Tables: []analysis.TableWrites{
			{Table: "public.files", Placement: "sharded", Colo: "org", Key: "org_id", Inserts: 800_000, Updates: 300_000, Deletes: 398, Truncates: 2, Rows: 1_100_398, Bytes: 299_999_900, RowsPerSecond: 101.888, KeyUnknown: 398, KeyMoves: 12, MovesBlind: 9_100},
			{Table: "public.job_queue", Placement: "unsharded", Inserts: 52_000, Deletes: 52_000, Rows: 104_000, Bytes: 9_988_000, RowsPerSecond: 9.6296},
			{Table: "public.plans", Placement: "reference", Updates: 100, Rows: 100, Bytes: 12_000, RowsPerSecond: 0.00925},
			{Table: hostile, Placement: "sharded", Colo: "org", Key: hostile, Inserts: 2, Rows: 2, Bytes: 100, KeyMoves: 1},
		},
		Skew: []analysis.WriteSkew{{Colo: "org", Shards: 64, Rows: 1_100_002, Unplaced: 398, MaxShare: 0.21, MaxMean: 13.44}},
	}
}
