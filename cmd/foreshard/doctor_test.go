package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/foreshard/foreshard/fixtures/pgserver"
)

func TestDoctor(t *testing.T) {
	t.Setenv("PGHOST", "")
	t.Setenv("PGSERVICE", "")
	said := func(want int, args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if code := run(context.Background(), append([]string{"doctor"}, args...), strings.NewReader(""), &out, &errOut); code != want {
			t.Errorf("%q: exit code %d, want %d\n%s%s", args, code, want, &out, &errOut)
		}
		if want == exitCannot {
			return errOut.String()
		}
		return out.String()
	}
	if s := said(exitCannot); !strings.Contains(s, "no server: give --dsn") {
		t.Error(s)
	}
	if s := said(exitCannot, "--dsn", "postgres://u:secret@127.0.0.1:1/d"); strings.Contains(s, "secret") {
		t.Error(s)
	}
	said(exitCannot, "--dsn", "x", "--format", "yaml")
	silent := pgserver.New(t, pgserver.Options{Major: 17})
	if s := said(exitNo, "--dsn", silent.DSN("postgres")); !strings.Contains(s, "ALTER SYSTEM SET log_min_duration_statement = 0;\n") {
		t.Error(s)
	}
	loud := pgserver.New(t, pgserver.Options{Major: 17, Log: []string{"csvlog"}, Settings: map[string]string{"log_min_duration_statement": "0"}})
	var answer struct {
		Visible bool
		Sources []struct{ Name, Seen string }
	}
	if err := json.Unmarshal([]byte(said(exitDone, "--dsn", loud.DSN("postgres"), "--format", "json")), &answer); err != nil || !answer.Visible || answer.Sources[0].Seen != "all" {
		t.Errorf("%+v, %v", answer, err)
	}
}
