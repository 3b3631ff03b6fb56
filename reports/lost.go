package reports

import "github.com/foreshard/foreshard/analysis"

// lostFacts says what the ledger's notes tell of traffic that was there and is not in the numbers, or is in them twice.
func lostFacts(l analysis.Ledger) []Fact {
	var facts []Fact
	add := func(label, note, one, text string) {
		if n := l.Notes[note]; n > 0 {
			facts = append(facts, Fact{Label: label, Value: Count(n), Note: plural(n, one, one+"s") + " " + text, Warn: true})
		}
	}
	add("lost records", "lost_records", "record", "that the server numbered and that were not there to be read: what they held is not counted")
	add("lost chunks", "lost_chunks", "record", "of syslog did not arrive whole: what they ran is unknown")
	if n := l.Notes["lost_bytes"]; n > 0 {
		facts = append(facts, Fact{Label: "lost bytes", Value: Size(n), Note: "of log files were cut or deleted before they could be read", Warn: true})
	}
	if n := l.Notes["stream_same_name"]; n > 0 {
		facts = append(facts, Fact{Label: "same name", Value: Count(n), Warn: true,
			Note: "state directories (times the partitions they sent to) of a --name that another one had used: if both read the same log, it is counted twice"})
	}
	return facts
}
