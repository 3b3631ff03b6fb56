package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"foreshard": main})
}

// TestScripts runs sessions as a user types them, against the program itself. A case is a file in testdata/script; -update writes what cmp
// compares.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TMPDIR", filepath.Join(env.WorkDir, ".tmp"))
			return common(env.WorkDir)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"json": jsonField, "exits": exits, "hostile": hostile},
	})
}

// common gives every script the schema, the candidates and the log in testdata/shop.
func common(dir string) error {
	files, err := filepath.Glob("testdata/shop/*")
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// jsonField compares a field of a JSON file: json FILE PATH VALUE, the path as a.b.0.c.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for _, key := range strings.Split(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[key]; !ok {
				ts.Fatalf("%s: no field %q in %s", args[0], key, args[1])
			}
		case []any:
			var at int
			if _, err := fmt.Sscan(key, &at); err != nil || at >= len(x) {
				ts.Fatalf("%s: no element %q in %s", args[0], key, args[1])
			}
			v = x[at]
		default:
			ts.Fatalf("%s: nothing below %q in %s", args[0], key, args[1])
		}
	}
	got, err := json.Marshal(v)
	ts.Check(err)
	if text, ok := v.(string); ok {
		got = []byte(text)
	}
	if (string(got) == args[2]) == neg {
		ts.Fatalf("%s: %s is %s", args[0], args[1], got)
	}
}

// exits runs a command that must end with a code: exits CODE COMMAND ARGUMENT...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGUMENT...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// hostile makes copies of a file under names that shells, terminals and formats trip over: hostile FILE.
func hostile(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	// U+2215 stands for the slash that a file name cannot have. The first record differs, because the same file twice is refused.
	for i, name := range []string{"with space.log", "-dash.log", "new\nline::warning.log", "esc\x1b[31m.log", "<\u2215script>|`x`.log"} {
		first := fmt.Sprintf("2026-11-29 08:00:0%d.000 UTC [%d] app@shop/web LOG:  checkpoint starting: time\n", i, i+1)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(first+text), 0o644))
	}
}
