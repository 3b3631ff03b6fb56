package pglog

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// csvColumns are those of csvlog from PostgreSQL 14 on, as CloudNativePG and Supabase name them.
var csvColumns = []string{"log_time", "user_name", "database_name", "process_id", "connection_from", "session_id", "session_line_num", "command_tag", "session_start_time",
	"virtual_transaction_id", "transaction_id", "error_severity", "sql_state_code", "message", "detail", "hint", "internal_query", "internal_query_pos", "context", "query",
	"query_pos", "location", "application_name", "backend_type", "leader_pid", "query_id"}

// fieldWraps are envelopes around the columns of csvlog. without are the columns that do not get through, so that the plain log must not have
// them either.
var fieldWraps = []struct {
	name    string
	format  Format
	without []string
	make    func(w *strings.Builder, rows [][]string)
}{
	{"cloudnativepg", CloudNativePG, nil, func(w *strings.Builder, rows [][]string) {
		for _, r := range rows {
			jsonLine(w, cnpgRecord(r))
		}
	}},
	{"cloudnativepg in cri", CRI, nil, func(w *strings.Builder, rows [][]string) {
		for _, r := range rows {
			var b strings.Builder
			jsonLine(&b, cnpgRecord(r))
			for line := b.String(); line != ""; {
				n := min(len(line), 300)
				fmt.Fprintf(w, "2026-01-02T10:00:00.1Z stdout %s %s\n", map[bool]string{true: "F", false: "P"}[n == len(line)], strings.TrimSuffix(line[:n], "\n"))
				line = line[n:]
			}
		}
	}},
	{"supabase", Supabase, nil, func(w *strings.Builder, rows [][]string) {
		w.WriteString("[")
		for i, r := range rows {
			parsed := columns(r)
			parsed["timestamp"] = r[0]
			if i > 0 {
				w.WriteString(",\n")
			}
			jsonLine(w, map[string]any{"event_message": r[13], "id": fmt.Sprintf("%08d", i), "timestamp": rowTime(r).UnixMicro(), "metadata": []any{map[string]any{"host": "db1", "parsed": []any{parsed}}}})
		}
		w.WriteString("]\n")
	}},
	{"azure flexible", Azure, []string{"user_name", "database_name", "connection_from", "command_tag", "virtual_transaction_id", "context", "query", "internal_query", "application_name"},
		func(w *strings.Builder, rows [][]string) {
			var entries []string
			for i, r := range rows {
				message := fmt.Sprintf("%s UTC-%s-%s:  %s", r[0][:19], r[5], r[11], r[13])
				properties := map[string]any{"timestamp": r[0], "processId": r[3], "errorLevel": r[11], "sqlerrcode": r[12], "message": message, "detail": r[14], "backend_type": r[23]}
				var b strings.Builder
				jsonLine(&b, map[string]any{"category": "PostgreSQLLogs", "time": rowTime(r).Add(time.Duration(i)).Format(time.RFC3339Nano), "resourceId": "/s/pg1", "properties": properties})
				entries = append(entries, strings.TrimSuffix(b.String(), "\n"))
			}
			for len(entries) > 0 { // a body of an event hub on each line
				n := min(len(entries), 7)
				rand.New(rand.NewPCG(2, uint64(len(entries)))).Shuffle(n, func(i, k int) { entries[i], entries[k] = entries[k], entries[i] })
				fmt.Fprintf(w, "{\"records\": [%s]}\n", strings.Join(entries[:n], ", "))
				entries = entries[n:]
			}
		}},
	{"azure export", Azure, []string{"user_name", "database_name", "connection_from", "command_tag", "virtual_transaction_id", "context", "query", "internal_query", "application_name"},
		func(w *strings.Builder, rows [][]string) {
			for i, r := range rows {
				jsonLine(w, map[string]any{"record_LogicalServerName_s": "pg1", "record_time_t": rowTime(r).Add(time.Duration(i)).Format(time.RFC3339Nano), "record_properties_timestamp_s": r[0],
					"record_properties_errorLevel_s": r[11], "record_properties_message_s": r[13], "record_properties_detail_s": r[14], "record_properties_sqlerrcode_s": r[12],
					"record_properties_prefix_s": fmt.Sprintf("%s UTC-%s-", r[0][:19], r[5]), "record_properties_backend_type_s": r[23]})
			}
		}},
	{"csv in docker", Docker, nil, func(w *strings.Builder, rows [][]string) {
		for _, line := range strings.SplitAfter(csvOf(rows), "\n") {
			for n := 500; line != ""; line = line[min(n, len(line)):] {
				jsonLine(w, map[string]any{"log": line[:min(n, len(line))], "stream": "stdout", "time": "2026-01-02T10:00:00.1Z"})
			}
		}
	}},
	{"csv in syslog", Syslog, nil, func(w *strings.Builder, rows [][]string) {
		for _, line := range strings.SplitAfter(csvOf(rows), "\n") {
			if line != "" {
				fmt.Fprintf(w, "<134>1 2026-01-02T10:00:00.1Z db1 postgres - - - %s", line)
			}
		}
	}},
}

func rowTime(row []string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05.000 MST", row[0])
	if err != nil {
		panic(err)
	}
	return t
}

func columns(row []string) map[string]any {
	out := map[string]any{}
	for i, v := range row {
		if v != "" {
			out[csvColumns[i]] = v
		}
	}
	return out
}

func cnpgRecord(row []string) any {
	return map[string]any{"level": "info", "ts": "2026-01-02T10:00:00Z", "logger": "postgres", "msg": "record", "logging_pod": "db-1", "record": columns(row)}
}

// csvOf writes rows as the server does: what is empty is not quoted, what is text is.
func csvOf(rows [][]string) string {
	var b strings.Builder
	for _, r := range rows {
		for i, v := range r {
			if i > 0 {
				b.WriteByte(',')
			}
			switch csvColumns[i] {
			case "log_time", "process_id", "session_id", "session_line_num", "session_start_time", "virtual_transaction_id", "transaction_id", "error_severity", "sql_state_code",
				"internal_query_pos", "query_pos", "leader_pid", "query_id":
				b.WriteString(v)
			default:
				if v != "" {
					b.WriteString(`"` + strings.ReplaceAll(v, `"`, `""`) + `"`)
				}
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestWrappedFields wraps a csvlog in each envelope that has a record's fields apart, or csvlog inside: the events are those of the csvlog.
func TestWrappedFields(t *testing.T) {
	log := shipped(t, "atelier.csv.zst", 1<<20)
	for _, name := range []string{"17.X.csv", "17.A.csv"} {
		data, err := os.ReadFile("testdata/samples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		log = append(data, log...)
	}
	rd := csv.NewReader(bytes.NewReader(log[:bytes.LastIndex(log, []byte("\n2026"))+1]))
	all, err := rd.ReadAll()
	if err != nil || len(all) < 2000 || len(all[0]) != len(csvColumns) {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	for _, wrap := range fieldWraps {
		t.Run(wrap.name, func(t *testing.T) {
			rows := make([][]string, len(all))
			for i, r := range all {
				rows[i] = append([]string(nil), r...)
				for k, name := range csvColumns {
					for _, w := range wrap.without {
						if name == w {
							rows[i][k] = ""
						}
					}
				}
			}
			want, counts, err := exactly(t, Config{Format: CSV}, Input{Name: "x", Reader: strings.NewReader(csvOf(rows))})
			if err != nil || counts.Executions < 500 {
				t.Fatalf("%d executions, %v", counts.Executions, err)
			}
			var w strings.Builder
			wrap.make(&w, rows)
			for _, cfg := range []Config{{Workers: 1}, {Format: wrap.format, Workers: 3, ChunkSize: 50_000}} {
				got, c, err := exactly(t, cfg, Input{Name: "x", Reader: strings.NewReader(w.String())})
				if err != nil || got != want || c.Records != counts.Records || c.Bytes != int64(w.Len()) {
					t.Fatalf("%v, %s\n%s", err, firstDifference(want, got), dumpCounts(c))
				}
			}
		})
	}
}
