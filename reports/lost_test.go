package reports

import (
	"testing"

	"github.com/foreshard/foreshard/analysis"
)

// What is missing from the numbers, or twice in them, is told where people look, not in the ledger alone.
func TestLossIsEvidence(t *testing.T) {
	for _, c := range []struct{ note, label, value string }{
		{"lost_records", "lost records", "3"}, {"lost_chunks", "lost chunks", "3"}, {"lost_bytes", "lost bytes", "3 bytes"}, {"stream_same_name", "same name", "3"},
		{"stream_repeated", "", ""},
	} {
		var found []Fact
		for _, f := range evidence(&analysis.Report{Ledger: analysis.Ledger{Notes: map[string]int64{c.note: 3}}}) {
			if f.Label == c.label && f.Value == c.value && f.Warn {
				found = append(found, f)
			}
		}
		if want := min(len(c.label), 1); len(found) != want {
			t.Errorf("%s: found %v, want %d facts", c.note, found, want)
		}
	}
	if facts := lostFacts(analysis.Ledger{}); facts != nil {
		t.Errorf("nothing was lost, and the report says %v", facts)
	}
}
