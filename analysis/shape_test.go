package analysis

import "testing"

func TestShapeOfTransactions(t *testing.T) {
	verdicts := map[string]*judged{
		"user.read":   {Class: "single_shard", Keys: []boundKey{{Colo: "user", Slots: []int64{1}}}},
		"user.write":  {Class: "single_shard", Write: true, Keys: []boundKey{{Colo: "user", Slots: []int64{2}}}},
		"user.join":   {Class: "single_shard", Keys: []boundKey{{Colo: "user"}, {Colo: "user", Slots: []int64{3, 4}}}},
		"user.expr":   {Class: "single_shard", Keys: []boundKey{{Colo: "user"}}},
		"user.xwrite": {Class: "single_shard", Write: true, Keys: []boundKey{{Colo: "user"}}},
		"org.read":    {Class: "single_shard", Keys: []boundKey{{Colo: "org", Slots: []int64{1}}}},
		"org.write":   {Class: "single_shard", Write: true, Keys: []boundKey{{Colo: "org", Slots: []int64{1}}}},
		"ref.read":    {Class: "reference"},
		"ref.write":   {Class: "broadcast", Write: true},
		"local.read":  {Class: "unsharded"},
		"local.write": {Class: "unsharded", Write: true},
		"nothing":     {Class: "none"},
		"set":         {Class: "session"},
		"scatter":     {Class: "scatter"},
		"scatter.w":   {Class: "scatter", Write: true},
		"opaque":      {Class: "unknown"},
		"bad":         {Class: "invalid"},
	}
	// at is one statement with symbol s in slot n; a repeated one ran more than once.
	at := func(name string, slot, symbol int64) shapeStatement {
		return shapeStatement{template: name, slots: []int64{slot}, symbols: []int64{symbol}}
	}
	bare := func(name string) shapeStatement { return shapeStatement{template: name} }
	again := func(s shapeStatement) shapeStatement {
		s.repeated = true
		return s
	}
	list := func(s ...shapeStatement) []shapeStatement { return s }
	tests := []struct {
		name string
		s    []shapeStatement
		flag shape
		want outcome
	}{
		{"nothing", nil, shape{}, txnSingle},
		{"only session and reference", list(bare("set"), bare("ref.read"), bare("nothing")), shape{}, txnSingle},
		{"one key value", list(at("user.read", 1, 1), at("user.write", 2, 1)), shape{}, txnSingle},
		{"one key value beside reference reads", list(at("user.read", 1, 1), bare("ref.read"), at("user.write", 2, 1)), shape{}, txnSingle},
		{"one key value again and again", list(again(at("user.read", 1, 1))), shape{}, txnSingle},
		{"the value is in the second binding", list(at("user.read", 1, 1), at("user.join", 4, 1)), shape{}, txnSingle},
		{"two key values, one write", list(at("user.read", 1, 1), at("user.write", 2, 2)), shape{}, txnMultiRead},
		{"two key values, reads", list(at("user.read", 1, 1), at("user.join", 3, 2)), shape{}, txnMultiRead},
		{"two key values, two writes", list(at("user.write", 2, 1), at("org.write", 1, 2)), shape{}, txnMultiWrite},
		{"the same value in two layouts", list(at("user.read", 1, 1), at("org.read", 1, 1)), shape{}, txnMultiRead},
		{"several values in one slot, read", list(at("user.read", 1, manyValues)), shape{}, txnMultiRead},
		{"several values in one slot, write", list(again(at("user.write", 2, manyValues))), shape{}, txnMultiWrite},
		{"one statement without a value", list(bare("user.expr")), shape{}, txnSingle},
		{"one statement without a value, twice", list(again(bare("user.expr"))), shape{}, txnUnknown},
		{"a value and one without", list(at("user.read", 1, 1), bare("user.expr")), shape{}, txnUnknown},
		{"a value that is not known", list(at("user.read", 1, noValue), at("user.write", 2, 1)), shape{}, txnUnknown},
		{"two values and one without", list(at("user.read", 1, 1), at("user.join", 3, 2), bare("user.expr")), shape{}, txnMultiRead},
		{"unsharded and sharded", list(bare("local.read"), at("user.read", 1, 1)), shape{}, txnMultiRead},
		{"unsharded and sharded writes", list(bare("local.write"), at("user.write", 2, 1)), shape{}, txnMultiWrite},
		{"only unsharded writes", list(bare("local.write"), bare("local.read")), shape{}, txnSingle},
		{"unsharded and one without a value", list(bare("local.read"), bare("user.expr")), shape{}, txnUnknown},
		{"a scatter read", list(bare("scatter"), at("user.read", 1, 1)), shape{}, txnMultiRead},
		{"a scatter read and one write", list(bare("scatter"), at("user.write", 2, 1)), shape{}, txnMultiRead},
		{"a scatter read and two writes that could be anywhere", list(bare("scatter"), bare("user.xwrite"), at("user.write", 2, 1)), shape{}, txnMultiWrite},
		{"a scatter write", list(bare("scatter.w")), shape{}, txnMultiWrite},
		{"a reference write", list(bare("ref.write")), shape{}, txnMultiWrite},
		{"an unknown statement", list(bare("opaque"), bare("scatter.w")), shape{}, txnUnknown},
		{"an invalid statement", list(bare("bad")), shape{}, txnUnknown},
		{"a statement without a verdict", list(bare("new")), shape{}, txnUnknown},
		{"text that could not be read", list(at("user.read", 1, 1)), shape{hidden: true}, txnUnknown},
		{"too many statements", list(at("user.read", 1, 1)), shape{overflow: true}, txnUnknown},
		{"a part of one", list(at("user.read", 1, 1)), shape{partial: true}, txnUnknown},
		{"a part that writes on two shards", list(bare("scatter.w")), shape{partial: true}, txnMultiWrite},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.flag.judge(tt.s, verdicts); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
