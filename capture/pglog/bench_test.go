package pglog

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// generated makes a log of n statements over sessions, a third of them by the extended protocol, in the given format.
func generated(format Format, n int) []byte {
	rng := rand.New(rand.NewPCG(7, 7))
	var b bytes.Buffer
	texts := []string{
		"SELECT id, org_id, name, created_at FROM files WHERE org_id = %d AND id = %d",
		"SELECT f.id, c.body FROM files f JOIN comments c ON c.file_id = f.id AND c.org_id = f.org_id WHERE f.org_id = %d AND c.author = 'user-%d' ORDER BY c.created_at DESC LIMIT 50",
		"UPDATE files SET name = 'it''s %d', touched = now() WHERE org_id = %d",
		"INSERT INTO audit (org_id, who, what) VALUES (%d, 'user %d', 'opened')",
		"SELECT count(*) FROM comments WHERE org_id IN (%d, %d, 3, 4, 5) /*controller='files',action='index'*/",
	}
	for i := range n {
		ms := i / 5
		stamp := fmt.Sprintf("2026-01-02 %02d:%02d:%02d.%03d UTC", 10+ms/3600000, ms/60000%60, ms/1000%60, ms%1000)
		pid := 1000 + rng.IntN(40)
		text, detail, verb := "", "", "statement"
		if i%3 == 0 {
			verb = "execute <unnamed>"
			text = "SELECT id, org_id, name FROM files WHERE org_id = $1 AND folder = $2 ORDER BY name LIMIT $3"
			detail = fmt.Sprintf("Parameters: $1 = '%d', $2 = 'folder %d', $3 = '50'", rng.IntN(1e6), rng.IntN(1e6))
		} else {
			text = fmt.Sprintf(texts[rng.IntN(len(texts))], rng.IntN(1e6), rng.IntN(1e6))
		}
		msg := fmt.Sprintf("duration: %d.%03d ms  %s: %s", rng.IntN(5), rng.IntN(1000), verb, text)
		switch format {
		case CSV:
			if detail != "" {
				detail = `"` + detail + `"`
			}
			fmt.Fprintf(&b, "%s,\"app\",\"shop\",%d,\"10.0.0.9:52114\",6b0c9891.%x,%d,\"SELECT\",2026-01-02 09:00:00 UTC,3/%d,0,LOG,00000,\"%s\",%s,,,,,,,,\"web\",\"client backend\",,0\n",
				stamp, pid, pid, i, i, strings.ReplaceAll(msg, `"`, `""`), detail)
		case JSON:
			if detail != "" {
				detail = fmt.Sprintf(",\"detail\":%q", detail)
			}
			fmt.Fprintf(&b, "{\"timestamp\":\"%s\",\"user\":\"app\",\"dbname\":\"shop\",\"pid\":%d,\"remote_host\":\"10.0.0.9\",\"remote_port\":52114,\"session_id\":\"6b0c9891.%x\",\"line_num\":%d,\"ps\":\"SELECT\",\"session_start\":\"2026-01-02 09:00:00 UTC\",\"vxid\":\"3/%d\",\"txid\":0,\"error_severity\":\"LOG\",\"message\":%q%s,\"application_name\":\"web\",\"backend_type\":\"client backend\",\"query_id\":0}\n",
				stamp, pid, pid, i, i, msg, detail)
		default:
			prefix := fmt.Sprintf("%s [%d] [user=app,db=shop,app=web] ", stamp, pid)
			fmt.Fprintf(&b, "%sLOG:  %s\n", prefix, msg)
			if detail != "" {
				fmt.Fprintf(&b, "%sDETAIL:  %s\n", prefix, detail)
			}
		}
	}
	return b.Bytes()
}

func benchmarkRun(b *testing.B, format Format) {
	const n = 200_000
	data := generated(format, n)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		r, err := Open(context.Background(), []Input{{Name: "bench", Reader: bytes.NewReader(data)}}, Config{HashKey: testKey, Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		events := 0
		if err := r.Run(context.Background(), func(batch Batch) error { events += len(batch.Events); return nil }); err != nil {
			b.Fatal(err)
		}
		if events < n {
			b.Fatalf("%d events", events)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "statements/s")
}

func BenchmarkStderr(b *testing.B) { benchmarkRun(b, Stderr) }
func BenchmarkCSV(b *testing.B)    { benchmarkRun(b, CSV) }
func BenchmarkJSON(b *testing.B)   { benchmarkRun(b, JSON) }

func BenchmarkWrapped(b *testing.B) {
	const n = 50_000
	records := recordsOf(b, samplePrefix, generated(Stderr, n))
	for _, wrap := range wraps {
		b.Run(wrap.name, func(b *testing.B) {
			var w strings.Builder
			wrap.make(&w, records)
			b.SetBytes(int64(w.Len()))
			b.ReportAllocs()
			for b.Loop() {
				_, c, err := run(b, Config{Format: wrap.format, Prefix: samplePrefix, Workers: 1, Now: wrappedNow}, Input{Name: "bench", Reader: strings.NewReader(w.String())})
				if err != nil || c.Executions != n {
					b.Fatalf("%d executions, %v", c.Executions, err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "statements/s")
		})
	}
}
