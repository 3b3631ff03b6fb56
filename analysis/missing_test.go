package analysis

import (
	"slices"
	"testing"
)

func TestMissingTables(t *testing.T) {
	cat, cand := oracle(t)
	for _, tt := range []struct {
		sql  string
		want []string
	}{
		{"SELECT * FROM users WHERE user_id = 1", nil},
		{"SELECT * FROM ghosts", []string{"ghosts"}},
		{"SELECT * FROM archive.ghosts g JOIN users u ON u.user_id = g.id", []string{"archive.ghosts"}},
		{`INSERT INTO "Odd ""name"""(a) SELECT 1 FROM spooks, ghosts`, []string{`Odd "name"`, "ghosts", "spooks"}},
		{"SELECT nobody.id FROM users", nil}, // no such name in FROM: the statement is wrong, the schema lacks nothing
		{"SELECT * FROM users FOR UPDATE OF nobody", nil},
		{"SELECT * FROM pg_catalog.pg_no_such", nil},
		{"VACUUM archive.ghosts", []string{"archive.ghosts"}},
	} {
		v, _, _ := judgeText(t, cat, cand, tt.sql)
		if !slices.Equal(v.Missing, tt.want) {
			t.Errorf("%s\ngot %q, want %q", tt.sql, v.Missing, tt.want)
		}
	}
}
