package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/fixtures/pgserver"
)

// canaryStatements put a canary in every place where a client can put a value; many of them fail on purpose.
var canaryStatements = []string{
	"SELECT * FROM orders WHERE org_id = 918273645 AND note = 'c4n4ry'",
	"SELECT * FROM orders WHERE org_id IN (918273645, 918273646) AND note IN ('c4n4ry', E'c4n4ry\\n', U&'c4n4ry', $x$c4n4ry$x$)",
	"SELECT point'c4n4ry'", "SELECT 'c4n4ry", "SELECT $c4n4ry$ c4n4ry", "SELECT 1 /* c4n4ry", "selec c4n4ry from orders",
	"ALTER ROLE postgres PASSWORD c4n4ry", "CREATE ROLE r1 PASSWORD 'c4n4ry'", "ALTER ROLE r1 PASSWORD 'c4n4ry'", "ALTER ROLE r1 SET app.token = c4n4ry",
	"SET app.tenant = c4n4ry", "SET app.tenant = 'c4n4ry'", "SELECT set_config('app.tenant', 'c4n4ry', false)", "NOTIFY chan, 'c4n4ry'",
	"DO $$ BEGIN RAISE EXCEPTION 'c4n4ry %', 918273645 USING DETAIL = 'c4n4ry', HINT = 'c4n4ry'; END $$", "DO $$ BEGIN PERFORM 'c4n4ry'::text; END $$",
	"INSERT INTO orders VALUES (918273645, 918273645, 'c4n4ry')", "INSERT INTO orders VALUES (918273645, 918273645, 'c4n4ry')", // the second one: Key (…)=(…) already exists
	"SELECT 'c4n4ry'::int", "SELECT 1 /* user='c4n4ry',traceparent='c4n4ry' */", "SELECT 1 -- c4n4ry", "SELECT nothing('c4n4ry')", "SELECT 1 FROM orders WHERE note = 'c4n4ry' LIMIT 918273645",
	"PREPARE p (text) AS SELECT * FROM orders WHERE note = $1 OR note = 'c4n4ry'", "EXECUTE p('c4n4ry')", "DEALLOCATE p",
	"BEGIN; DECLARE cur CURSOR FOR SELECT * FROM orders WHERE note = 'c4n4ry'; FETCH ALL FROM cur; COMMIT", "COPY (SELECT 'c4n4ry') TO STDOUT",
	"COMMENT ON TABLE orders IS 'c4n4ry'", "SELECT date 'c4n4ry'", "SELECT nested('c4n4ry')", "SELECT * FROM json_to_recordset('[{\"a\":\"c4n4ry\"}]') AS x(a text) WHERE a = 'c4n4ry'",
	"SELECT \xff'c4n4ry'", "EXPLAIN SELECT * FROM orders WHERE note = 'c4n4ry'", "CREATE TABLE c AS SELECT 'c4n4ry'::text AS a", "CREATE VIEW v AS SELECT 'c4n4ry'::text AS a",
}

const canarySchema = `CREATE TABLE orders (org_id bigint, order_id bigint, note text, PRIMARY KEY (org_id, order_id));
CREATE FUNCTION nested(v text) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM orders WHERE note = v AND note <> 'c4n4ry'); END $$;`

// TestCanaries lets real servers log canaries in every format of auto_explain, reads all three logs, and looks at every byte that is left.
func TestCanaries(t *testing.T) {
	for _, major := range []int{13, 17} {
		log := []string{"stderr", "csvlog", "jsonlog"}[:min(3, major-11)]
		srv := pgserver.New(t, pgserver.Options{Major: major, Log: log, Settings: map[string]string{
			"log_min_duration_statement": "0", "log_statement": "all", "session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0",
			"auto_explain.log_verbose": "on", "auto_explain.log_nested_statements": "on", "log_parameter_max_length_on_error": "-1",
		}})
		canaryTraffic(t, srv.DSN("postgres"))
		if err := srv.Stop(); err != nil {
			t.Fatal(err)
		}
		for _, l := range log {
			t.Run(fmt.Sprintf("%d/%s", major, l), func(t *testing.T) { canaryRun(t, srv.LogFile(l)) })
		}
	}
}

func canaryTraffic(t *testing.T, dsn string) {
	ctx := t.Context()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, canarySchema).ReadAll(); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "json", "yaml", "xml"} {
		if _, err := conn.Exec(ctx, "SET auto_explain.log_format = "+format).ReadAll(); err != nil {
			t.Fatal(err)
		}
		for _, sql := range canaryStatements {
			_, _ = conn.Exec(ctx, sql).ReadAll() // what fails is logged too
		}
		for _, sql := range []string{"SELECT * FROM orders WHERE note = $1 AND org_id::text <> $2", "INSERT INTO orders VALUES ($2, $2::bigint, $1)", "SELECT $2::int + $1::int"} {
			_ = conn.ExecParams(ctx, sql, [][]byte{[]byte("c4n4ry"), []byte("918273645")}, nil, nil, nil).Read()
		}
		if _, err := conn.CopyFrom(ctx, strings.NewReader("1\t918273645\tc4n4ry\n1\tc4n4ry\n"), "COPY orders FROM STDIN"); err == nil {
			t.Error("COPY of a bad row is no error")
		}
	}
}

func canaryRun(t *testing.T, log string) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	schema := write("schema.sql", strings.ReplaceAll(canarySchema, "c4n4ry", "x"))
	cand := write("by-org.yaml", "name: by-org\nshards: 4\ncolos:\n  org:\n    key: {name: org_id, type: bigint}\n    tables: {orders: org_id}\n")
	root := filepath.Join(dir, "warehouse")
	args := []string{"analyze", "--schema", schema, "--candidate", cand, "--warehouse", root}
	for _, f := range []string{"json", "markdown", "html"} {
		args = append(args, "--output", f+"="+filepath.Join(dir, "report."+f))
	}
	var out, errOut bytes.Buffer
	if code := run(t.Context(), append(args, log), nil, &out, &errOut); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	look := func(where string, data []byte) {
		for _, canary := range []string{"c4n4ry", "918273645"} {
			if i := bytes.Index(data, []byte(canary)); i >= 0 {
				t.Errorf("%s holds a value: %q", where, data[max(0, i-100):min(len(data), i+40)])
			}
		}
	}
	look("standard output", out.Bytes())
	look("standard error", errOut.Bytes())
	files := 0
	for name, data := range unpackedFiles(t, root) {
		look(name, data)
		files++
	}
	for _, f := range []string{"json", "markdown", "html"} {
		data, err := os.ReadFile(filepath.Join(dir, "report."+f))
		if err != nil {
			t.Fatal(err)
		}
		look(f, data)
	}
	if files < 8 {
		t.Errorf("only %d files were looked at", files)
	}

	// run says more than analyze, in three formats; it ends with its first commit.
	format := map[string]string{".log": "text", ".csv": "json", ".json": "logfmt"}[filepath.Ext(log)]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := &untilSaid{text: "executions committed", then: cancel}
	if code := run(ctx, []string{"run", "--log", log, "--warehouse", filepath.Join(dir, "followed"), "--schema", schema, "--candidate", cand, "--report-every", "1ms",
		"--log-line-prefix", "%m [%p] ", "--poll", "10ms", "--commit-every", "50ms", "--listen", "", "--log-format", format, "--log-level", "debug"}, nil, said, said); code != exitDone {
		t.Fatalf("run: exit code %d: %s", code, said.all())
	}
	look("what run says as "+format, said.all())
	if !bytes.Contains(said.all(), []byte("ended: ")) {
		t.Errorf("run does not say that it ended:\n%s", said.all())
	}
}

// untilSaid keeps what is written to it, and does something once a text is in it.
type untilSaid struct {
	mu   sync.Mutex
	b    bytes.Buffer
	text string
	then func()
}

func (u *untilSaid) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.b.Write(p)
	if bytes.Contains(u.b.Bytes(), []byte(u.text)) {
		u.then()
	}
	return len(p), nil
}

func (u *untilSaid) all() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	return bytes.Clone(u.b.Bytes())
}

// unpackedFiles are the files of a warehouse as they are and, where they are packed, as text.
func unpackedFiles(t *testing.T, root string) map[string][]byte {
	ctx := t.Context()
	w, err := analysis.OpenWarehouse(ctx, root, false)
	if err != nil {
		t.Fatal(err)
	}
	db, err := duck.Open(ctx, w.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	files := map[string][]byte{}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files[path] = data
		if strings.HasSuffix(path, ".parquet") {
			return db.Each(ctx, "SELECT f::VARCHAR FROM read_parquet(?) AS f", func(scan func(...any) error) error {
				var row string
				err := scan(&row)
				files[path+" unpacked"] = append(append(files[path+" unpacked"], row...), '\n')
				return err
			}, path)
		}
		if plain, err := dec.DecodeAll(data, nil); err == nil {
			files[path+" unpacked"] = plain
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
