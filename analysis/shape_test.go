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
		"user.rows":   {Class: "multi_shard", Write: true, Bare: true, Keys: []boundKey{{Colo: "user", Slots: []int64{1}}}},
		"user.list":   {Class: "multi_shard", Bare: true, Keys: []boundKey{{Colo: "user", Slots: []int64{1}}}},
		"user.lists":  {Class: "multi_shard", Bare: true, Keys: []boundKey{{Colo: "user", Slots: []int64{1}}, {Colo: "user", Slots: []int64{2}}}},
		"user.part":   {Class: "multi_shard", Keys: []boundKey{{Colo: "user", Slots: []int64{1}}, {Colo: "user"}}},
		"two.lists":   {Class: "multi_shard", Bare: true, Keys: []boundKey{{Colo: "user", Slots: []int64{1}}, {Colo: "org", Slots: []int64{2}}}},
		"no.keys":     {Class: "multi_shard", Bare: true},
		"scatter.k":   {Class: "scatter", Bare: true, Keys: []boundKey{{Colo: "user", Slots: []int64{1}}}},
		"phases.k":    {Class: "multi_phase", Bare: true, Keys: []boundKey{{Colo: "user", Slots: []int64{1}}}},
		"unknown.k":   {Class: "unknown", Bare: true, Keys: []boundKey{{Colo: "user", Slots: []int64{1}}}},
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
	both := func(name string, first, second int64) shapeStatement {
		return shapeStatement{template: name, slots: []int64{1, 2}, symbols: []int64{first, second}}
	}
	tests := []struct {
		name string
		s    []shapeStatement
		flag shape
		want outcome
		dep  bool // it rests on the values
	}{
		{"nothing", nil, shape{}, txnSingle, false},
		{"only session and reference", list(bare("set"), bare("ref.read"), bare("nothing")), shape{}, txnSingle, false},
		{"one key value", list(at("user.read", 1, 1), at("user.write", 2, 1)), shape{}, txnSingle, false},
		{"one key value beside reference reads", list(at("user.read", 1, 1), bare("ref.read"), at("user.write", 2, 1)), shape{}, txnSingle, false},
		{"one key value again and again", list(again(at("user.read", 1, 1))), shape{}, txnSingle, false},
		{"the value is in the second binding", list(at("user.read", 1, 1), at("user.join", 4, 1)), shape{}, txnSingle, false},
		{"two key values, one write", list(at("user.read", 1, 1), at("user.write", 2, 2)), shape{}, txnMultiRead, false},
		{"two key values, reads", list(at("user.read", 1, 1), at("user.join", 3, 2)), shape{}, txnMultiRead, false},
		{"two key values, two writes", list(at("user.write", 2, 1), at("org.write", 1, 2)), shape{}, txnMultiWrite, false},
		{"the same value in two layouts", list(at("user.read", 1, 1), at("org.read", 1, 1)), shape{}, txnMultiRead, false},
		{"several values in one slot, read", list(at("user.read", 1, manyValues)), shape{}, txnMultiRead, false},
		{"several values in one slot, write", list(again(at("user.write", 2, manyValues))), shape{}, txnMultiWrite, false},
		{"one statement without a value", list(bare("user.expr")), shape{}, txnSingle, false},
		{"one statement without a value, twice", list(again(bare("user.expr"))), shape{}, txnUnknown, false},
		{"a value and one without", list(at("user.read", 1, 1), bare("user.expr")), shape{}, txnUnknown, false},
		{"a value that is not known", list(at("user.read", 1, noValue), at("user.write", 2, 1)), shape{}, txnUnknown, false},
		{"two values and one without", list(at("user.read", 1, 1), at("user.join", 3, 2), bare("user.expr")), shape{}, txnMultiRead, false},
		{"unsharded and sharded", list(bare("local.read"), at("user.read", 1, 1)), shape{}, txnMultiRead, false},
		{"unsharded and sharded writes", list(bare("local.write"), at("user.write", 2, 1)), shape{}, txnMultiWrite, false},
		{"only unsharded writes", list(bare("local.write"), bare("local.read")), shape{}, txnSingle, false},
		{"unsharded and one without a value", list(bare("local.read"), bare("user.expr")), shape{}, txnUnknown, false},
		{"a scatter read", list(bare("scatter"), at("user.read", 1, 1)), shape{}, txnMultiRead, false},
		{"a scatter read and one write", list(bare("scatter"), at("user.write", 2, 1)), shape{}, txnMultiRead, false},
		{"a scatter read and two writes that could be anywhere", list(bare("scatter"), bare("user.xwrite"), at("user.write", 2, 1)), shape{}, txnMultiWrite, false},
		{"a scatter write", list(bare("scatter.w")), shape{}, txnMultiWrite, false},
		{"a reference write", list(bare("ref.write")), shape{}, txnMultiWrite, false},
		{"an unknown statement", list(bare("opaque"), bare("scatter.w")), shape{}, txnUnknown, false},
		{"an invalid statement", list(bare("bad")), shape{}, txnUnknown, false},
		{"a statement without a verdict", list(bare("new")), shape{}, txnUnknown, false},
		{"text that could not be read", list(at("user.read", 1, 1)), shape{hidden: true}, txnUnknown, false},
		{"too many statements", list(at("user.read", 1, 1)), shape{overflow: true}, txnUnknown, false},
		{"a part of one", list(at("user.read", 1, 1)), shape{partial: true}, txnUnknown, false},
		{"a part that writes on two shards", list(bare("scatter.w")), shape{partial: true}, txnMultiWrite, false},

		{"rows of one key value", list(at("user.rows", 1, 1)), shape{}, txnSingle, true},
		{"rows of one key value, again and again", list(again(at("user.rows", 1, 1))), shape{}, txnSingle, true},
		{"rows of one key value beside a statement with it", list(at("user.rows", 1, 1), at("user.write", 2, 1)), shape{}, txnSingle, true},
		{"rows of one key value beside reference reads", list(bare("ref.read"), at("user.rows", 1, 1)), shape{}, txnSingle, true},
		{"two lists of one key value", list(both("user.lists", 1, 1)), shape{}, txnSingle, true},
		{"rows of several key values", list(at("user.rows", 1, manyValues)), shape{}, txnMultiWrite, false},
		{"rows of which one has no value", list(at("user.rows", 1, noValue)), shape{}, txnMultiWrite, false},
		{"rows whose values were not kept", list(bare("user.rows")), shape{}, txnMultiWrite, false},
		{"a list of several key values", list(at("user.list", 1, manyValues)), shape{}, txnMultiRead, false},
		{"two lists of two key values", list(both("user.lists", 1, 2)), shape{}, txnMultiRead, false},
		{"two lists of which one has several", list(both("user.lists", 1, manyValues)), shape{}, txnMultiRead, false},
		{"two lists of which one was not kept", list(at("user.lists", 1, 1)), shape{}, txnMultiRead, false},
		{"a table that is bound in another way", list(at("user.part", 1, 1)), shape{}, txnMultiRead, false},
		{"one value in two layouts", list(both("two.lists", 1, 1)), shape{}, txnMultiRead, false},
		{"a verdict without keys", list(at("no.keys", 1, 1)), shape{}, txnMultiRead, false},
		{"rows of one key value and another value", list(at("user.rows", 1, 1), at("user.read", 1, 2)), shape{}, txnMultiWrite, false},
		{"rows of one key value and one that is not known", list(at("user.rows", 1, 1), bare("user.expr")), shape{}, txnMultiWrite, false},
		{"rows of one key value and an unsharded table", list(bare("local.read"), at("user.rows", 1, 1)), shape{}, txnMultiWrite, false},
		{"a list of one key value and an unsharded write", list(bare("local.write"), at("user.list", 1, 1)), shape{}, txnMultiRead, false},
		{"a list of one key value and a scatter", list(at("user.list", 1, 1), bare("scatter")), shape{}, txnMultiRead, false},
		{"a scatter with a value", list(at("scatter.k", 1, 1)), shape{}, txnMultiRead, false},
		{"phases with a value", list(at("phases.k", 1, 1)), shape{}, txnMultiRead, false},
		{"an unknown statement with a value", list(at("unknown.k", 1, 1)), shape{}, txnUnknown, false},
		{"a part with rows of one key value", list(at("user.rows", 1, 1)), shape{partial: true}, txnUnknown, false},
		{"text that could not be read beside rows of one key value", list(at("user.rows", 1, 1)), shape{hidden: true}, txnUnknown, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, dep := tt.flag.judge(tt.s, verdicts); got != tt.want || dep != tt.dep {
				t.Errorf("got %d, %t, want %d, %t", got, dep, tt.want, tt.dep)
			}
		})
	}
}
