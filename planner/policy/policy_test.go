package policy

import (
	"slices"
	"testing"
)

func TestReadiness(t *testing.T) {
	figma, _ := Builtin("figma")
	full, _ := Builtin("full")
	single, _ := Builtin("single-shard")
	cases := []struct {
		what     string
		class    string
		features []Feature
		write    bool
		dialect  Dialect
		want     string
	}{
		{"no rows", "none", nil, false, single, Ready},
		{"home database", "unsharded", []Feature{GlobalSequence}, true, single, Ready},
		{"a copy", "reference", nil, false, single, Ready},
		{"anything on one shard", "single_shard", []Feature{GlobalSequence, KeyGeneration, WindowPull}, true, figma, Ready},
		{"SET", "session", nil, false, single, Ready},
		{"plain scatter", "scatter", []Feature{Concat}, false, figma, Costly},
		{"plain scatter in a dialect of single shards", "scatter", []Feature{Concat}, false, single, Blocked},
		{"sorted page", "scatter", []Feature{MergeSort, Limit, Offset}, false, figma, Costly},
		{"average by group", "scatter", []Feature{GroupMerge, PartialAvg}, false, figma, Costly},
		{"two keys", "multi_shard", []Feature{Concat}, false, figma, Costly},
		{"distinct", "scatter", []Feature{Concat, Distinct}, false, figma, Blocked},
		{"distinct, everything allowed", "scatter", []Feature{Concat, Distinct}, false, full, Costly},
		{"a feature nobody knows", "scatter", []Feature{"teleport"}, false, full, Blocked},
		{"write on many shards", "scatter", []Feature{RowCountSum, TwoPhaseCommit}, true, figma, Blocked},
		{"write on many shards whose features forget it", "scatter", nil, true, figma, Blocked},
		{"write on many shards, everything allowed", "scatter", []Feature{RowCountSum, TwoPhaseCommit}, true, full, Costly},
		{"write on a reference table", "broadcast", []Feature{TwoPhaseCommit}, true, figma, Blocked},
		{"schema change", "broadcast", []Feature{TwoPhaseCommit}, false, figma, Costly},
		{"schema change in an empty dialect", "broadcast", nil, false, New("none", nil), Blocked},
		{"moved rows", "multi_phase", nil, false, full, Blocked},
		{"reject", "reject", nil, true, full, Blocked},
		{"opaque", "unknown", nil, false, full, Unknown},
		{"invalid", "invalid", nil, false, full, Unknown},
		{"a class nobody knows", "cheap", nil, false, full, Unknown},
		{"no class", "", nil, false, full, Unknown},
	}
	for _, c := range cases {
		if got := Readiness(c.class, c.features, c.write, c.dialect); got != c.want {
			t.Errorf("%s: %s %v under %s is %s, want %s", c.what, c.class, c.features, c.dialect.Name, got, c.want)
		}
	}
}

func TestMissing(t *testing.T) {
	figma, _ := Builtin("figma")
	if got := Missing("scatter", []Feature{Concat, Distinct, DistinctOn, Distinct}, false, figma); !slices.Equal(got, []Feature{Distinct, DistinctOn}) {
		t.Errorf("missing %v", got)
	}
	if got := Missing("single_shard", []Feature{Distinct}, true, figma); got != nil {
		t.Errorf("one shard: missing %v", got)
	}
}

func TestBuiltins(t *testing.T) {
	known := map[Feature]bool{}
	for _, f := range Features() {
		if known[f] {
			t.Errorf("feature %q twice", f)
		}
		known[f] = true
	}
	if !slices.IsSorted(Builtins()) || !slices.Contains(Builtins(), DefaultDialect) {
		t.Errorf("built-ins %v", Builtins())
	}
	for _, name := range Builtins() {
		d, ok := Builtin(name)
		if !ok || d.Name != name {
			t.Errorf("built-in %q: %v", name, ok)
		}
		for f := range d.Features {
			if !known[f] {
				t.Errorf("built-in %q has the unknown feature %q", name, f)
			}
		}
	}
	if _, ok := Builtin("Figma"); ok {
		t.Error("names are exact")
	}
}
