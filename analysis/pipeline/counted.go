package pipeline

import (
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture"
)

// countedKey is a row of the statistics. Looks are minutes apart, so that the rows of one are hardly ever added up.
type countedKey struct {
	from, to int64 // Unix microseconds
	template string
	source   string
	evidence capture.Evidence
	o        *origin
}

type countedSums struct{ calls, us int64 }

// statistics keeps what a server counted. No execution is seen in it: the ledger's and the rollups' are the log's.
func (a *aggregate) statistics(e *capture.Event) {
	c := e.Counted
	k := countedKey{from: c.From.UnixMicro(), to: c.To.UnixMicro(), source: e.Client, evidence: c.Evidence, o: a.origin(e)}
	secret := e.Opaque
	if e.Template != nil {
		t := a.templates[templateKey{e.Template.ID, e.Search}]
		k.template, secret = t.id, t.secret
	}
	if secret != nil {
		k.template = warehouse.OpaqueTemplate + secret.Reason
	}
	if a.counted == nil {
		a.counted = map[countedKey]*countedSums{}
	}
	s := a.counted[k]
	if s == nil {
		k.source, k.template = strings.Clone(k.source), strings.Clone(k.template)
		s = &countedSums{}
		a.counted[k] = s
	}
	s.calls += c.Calls
	s.us += max(c.Time.Microseconds(), 0)
}

// drainCounted moves the statistics into a commit.
func (a *aggregate) drainCounted(c *warehouse.Commit) {
	for k, s := range a.counted {
		c.Counted = append(c.Counted, warehouse.CountedRow{From: time.UnixMicro(k.from).UTC(), To: time.UnixMicro(k.to).UTC(), Template: k.template,
			Database: k.o.database, User: k.o.user, Source: k.source, Evidence: k.evidence.String(), Calls: s.calls, TimeUS: s.us})
	}
	a.counted = nil
}
