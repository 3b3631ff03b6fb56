package pglog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The canaries: a word and a number that stand in every place where a value can stand.
const (
	word   = "c4n4ryw0rd"
	number = "918273645"
)

// canaryTexts holds the canaries in values, comments, bodies, passwords, payloads, and in text that cannot be lexed.
var canaryTexts = []string{
	"SELECT * FROM t WHERE a = 'c4n4ryw0rd' AND b = E'x\\'c4n4ryw0rd' AND c = 918273645 AND d = $$c4n4ryw0rd$$ AND e = U&'c4n4ryw0rd' AND f = -918273645.5",
	"SELECT * FROM t WHERE a IN ('c4n4ryw0rd', 'y') AND b = ANY (ARRAY[918273645, 2]) LIMIT 918273645 OFFSET 918273645",
	"INSERT INTO t VALUES ('c4n4ryw0rd', 918273645), ('y', 2)",
	"SELECT 1 /* c4n4ryw0rd */ -- c4n4ryw0rd",
	"SELECT 1 /* traceparent='c4n4ryw0rd',user_id='918273645' */",
	"SELECT 'c4n4ryw0rd",
	"SELECT $x$c4n4ryw0rd",
	"SELECT \"c4n4ryw0rd",
	"SELECT 1 /* c4n4ryw0rd",
	"DO $$ BEGIN PERFORM 'c4n4ryw0rd'; END $$",
	"CREATE FUNCTION f() RETURNS text LANGUAGE sql AS 'SELECT ''c4n4ryw0rd'''",
	"ALTER ROLE u PASSWORD 'c4n4ryw0rd'",
	"CREATE USER u WITH ENCRYPTED PASSWORD 'c4n4ryw0rd' VALID UNTIL 'c4n4ryw0rd'",
	"CREATE USER MAPPING FOR u SERVER s OPTIONS (password 'c4n4ryw0rd')",
	"NOTIFY ch, 'c4n4ryw0rd'",
	"COPY (SELECT 'c4n4ryw0rd') TO STDOUT",
	"COPY t FROM PROGRAM 'c4n4ryw0rd'",
	"SET app.tenant = 'c4n4ryw0rd'",
	"SET app.tenant TO 918273645",
	"SELECT set_config('app.tenant', 'c4n4ryw0rd', true)",
	"PREPARE p AS SELECT 'c4n4ryw0rd' FROM t WHERE a = $1",
	"EXECUTE p('c4n4ryw0rd')",
	"EXECUTE p(918273645)",
	"PREPARE TRANSACTION 'c4n4ryw0rd'",
	"COMMIT PREPARED 'c4n4ryw0rd'",
	"COMMENT ON TABLE t IS 'c4n4ryw0rd'",
	"CREATE VIEW v AS SELECT 'c4n4ryw0rd'",
	"CREATE TABLE x AS SELECT 918273645 AS a, 'c4n4ryw0rd' AS b",
	"EXPLAIN SELECT 'c4n4ryw0rd'",
	"DECLARE cur CURSOR FOR SELECT 'c4n4ryw0rd'",
	"FETCH 918273645 FROM cur",
	"CALL pr('c4n4ryw0rd', 918273645)",
	"SELECT interval 'c4n4ryw0rd', date 'c4n4ryw0rd', 'c4n4ryw0rd'::text",
	"SELECT 'a'\n'c4n4ryw0rd'",
	"SECURITY LABEL ON TABLE t IS 'c4n4ryw0rd'",
	"ALTER SYSTEM SET primary_conninfo = 'c4n4ryw0rd'",
	"CREATE SUBSCRIPTION s CONNECTION 'c4n4ryw0rd' PUBLICATION p",
	"selec 'c4n4ryw0rd' 918273645",
	"SELECT \x00'c4n4ryw0rd'",
	"SELECT \xff\xfe'c4n4ryw0rd' FROM caf\xe9",
}

// canaryLog is a log with every text in every kind of record.
func canaryLog() string {
	var b strings.Builder
	line := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		fmt.Fprintf(&b, "2026-01-02 10:00:00.001 UTC [71] %s\n", strings.ReplaceAll(text, "\n", "\n\t"))
	}
	params := "Parameters: $1 = 'c4n4ryw0rd', $2 = '918273645', $3 = 'x''c4n4ryw0rd', $4 = 'c4n4ryw0rd..."
	for i, text := range canaryTexts {
		end := []string{"'", ""}[i%2] // every other parameter list is malformed
		line("LOG:  statement: %s", text)
		line("LOG:  duration: 1.000 ms")
		line("LOG:  duration: 1.000 ms  statement: %s", text)
		line("LOG:  duration: 1.000 ms  parse <unnamed>: %s", text)
		line("LOG:  duration: 1.000 ms  bind <unnamed>: %s", text)
		line("DETAIL:  %s%s", params, end)
		line("LOG:  duration: 1.000 ms  execute <unnamed>: %s", text)
		line("DETAIL:  %s%s", params, end)
		line("LOG:  execute <unnamed>: %s AND $1 = $2", text)
		line("DETAIL:  %s%s", params, end)
		line("LOG:  duration: 1.000 ms  plan:\nQuery Text: %s\nQuery Parameters: %s%s\nSeq Scan on t  (cost=0.00..1.01 rows=1 width=4)\n  Filter: (a = 'c4n4ryw0rd')", text, params[12:], end)
		line("LOG:  duration: 1.000 ms  plan:\nQuery Text: %s", text)
		line("ERROR:  invalid input c4n4ryw0rd 918273645")
		line("DETAIL:  c4n4ryw0rd")
		line("HINT:  c4n4ryw0rd")
		line("CONTEXT:  unnamed portal with parameters: %s%s\nc4n4ryw0rd", params[12:], end)
		line("STATEMENT:  %s", text)
		line("LOG:  statement: %s", text)
		line("STATEMENT:  %s", text)
		line("LOG:  AUDIT: SESSION,1,1,READ,SELECT,,,%s,<none>", text)
		line("LOG:  duration: 1.000 ms  statement: %s [Your log message was truncated]", text)
		line("LOG:  fastpath function call: \"c4n4ryw0rd\" (OID 1)")
		line("LOG:  c4n4ryw0rd")
		line("LOG:  Dauer: 1.000 ms  Quatsch: %s", text)
		fmt.Fprintf(&b, "c4n4ryw0rd foreign\n")
	}
	return b.String()
}

// No value leaves: not in an event, the ledger, the saved state or an error.
func TestCanaries(t *testing.T) {
	ctx := context.Background()
	log := canaryLog()
	var sqlFile strings.Builder
	for _, text := range canaryTexts {
		if strings.Contains(text, "\"c4") || strings.Count(text, "'")%2 == 1 || strings.Contains(text, "$x$") || strings.Contains(text, "/* c4n4ryw0rd") {
			continue // the rest of the file would be inside its quotes
		}
		sqlFile.WriteString(text + ";\n")
	}
	sqlFile.WriteString("COPY t FROM stdin;\nc4n4ryw0rd\n\\.\n\\set x c4n4ryw0rd\nSELECT 'c4n4ryw0rd")
	csv := "2026-01-02 10:00:00.001 UTC,\"a\",\"b\",71,\"[local]\",6a.47,1,\"SELECT\",2026-01-02 09:00:00 UTC,3/1,0,LOG,00000,\"duration: 1.000 ms  statement: SELECT 'c4n4ryw0rd'\",,,,,,,,,\"web\"\n" +
		"2026-01-02 10:00:00.001 UTC,\"a\",\"b\",71,\"[local]\",6a.47,1,\"SELECT\",2026-01-02 09:00:00 UTC,3/1,0,LOG,00000,\"c4n4ryw0rd \"c4n4ryw0rd\n"
	type input struct {
		name, text string
		cfg        Config
		events     int
	}
	inputs := []input{
		{"stderr", log, Config{ChunkSize: 2000, Hold: true}, 300},
		{"oversize", log, Config{MaxRecord: 300, Hold: true}, 100},
		{"prefix", log, Config{Prefix: "%t [%p]: "}, 0},
		{"sql", sqlFile.String(), Config{Format: SQL}, 25},
		{"csv", csv, Config{}, 1},
		{"none", "c4n4ryw0rd 918273645", Config{}, 0},
	}
	records := recordsOf(t, "%m [%p] ", []byte(log))
	for _, wrap := range wraps {
		var w strings.Builder
		wrap.make(&w, records)
		inputs = append(inputs, input{wrap.name, w.String(), Config{ChunkSize: 2000, Now: wrappedNow}, 250},
			input{wrap.name + " oversize", w.String(), Config{MaxRecord: 700, ChunkSize: 500, Format: wrap.format, Prefix: "%m [%p] ", Now: wrappedNow}, 100},
			input{wrap.name + " prefix", w.String(), Config{Prefix: "%t [%p]: ", Now: wrappedNow}, 0})
	}
	for _, in := range inputs {
		in.cfg.HashKey = testKey
		check := func(what string, v any) {
			if text := fmt.Sprint(v); strings.Contains(text, word) || strings.Contains(text, number) {
				i := max(strings.Index(text, word), strings.Index(text, number))
				t.Errorf("%s: %s holds a value: …%q", in.name, what, text[max(0, i-80):min(len(text), i+40)])
			}
		}
		r, err := Open(ctx, []Input{{Name: "x", Reader: strings.NewReader(in.text)}}, in.cfg)
		check("the error", err)
		if err != nil {
			continue
		}
		n := 0
		err = r.Run(ctx, func(b Batch) error {
			for i := range b.Events {
				out, err := json.Marshal(&b.Events[i])
				if err != nil {
					return err
				}
				check("an event", string(out))
				n++
			}
			state, err := r.State()
			check("the state", string(state))
			return err
		})
		check("the error of the run", err)
		check("the ledger", fmt.Sprintf("%+v %+v", r.Counts(), r.Positions()))
		if n < in.events {
			t.Errorf("%s: only %d events", in.name, n)
		}
	}
}
