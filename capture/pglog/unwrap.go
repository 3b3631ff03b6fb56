package pglog

import (
	"bytes"
	"time"

	"github.com/foreshard/foreshard/capture/pglog/envelope"
)

// unwrapParser reads what is left of a chunk without its envelopes: with the parser of what was in them.
type unwrapParser struct {
	stderr stderrParser
	csv    csvParser
	json   jsonParser
	fields fieldsParser
}

func newUnwrapParser(zone *time.Location) *unwrapParser {
	c := clock{zone: zone}
	return &unwrapParser{stderr: stderrParser{clock: c}, csv: csvParser{clock: c}, json: jsonParser{clock: c}, fields: fieldsParser{clock: c}}
}

// parse gives the records of a chunk. Their memory is that of the parser and of the chunk.
func (p *unwrapParser) parse(s *source, in *unwrapped, drop func(reason string, bytes int), note func(kind string)) (recs []record) {
	dropSpan := func(reason string, from, to int) { drop(reason, in.sizes.of(from, to)) }
	switch s.wrap.inner {
	case Stderr:
		p.stderr.prefix, p.stderr.size = s.prefix, &in.sizes
		recs = p.stderr.parse(in.text, false, dropSpan, note)
	case CSV:
		p.csv.size = &in.sizes
		recs = p.csv.parse(in.text, false, dropSpan)
	case JSON:
		p.json.size = &in.sizes
		recs = p.json.parse(in.text, false, dropSpan)
	default:
		p.fields.scan.Kind, p.fields.size = envelope.Kind(s.wrap.inner), &in.sizes
		recs = p.fields.parse(in.text, dropSpan)
	}
	at := 0
	for i := range recs {
		for at+1 < len(in.starts) && in.starts[at+1].start <= recs[i].start {
			at++
		}
		recs[i].attribute(&in.starts[at], s.wrap.kind)
	}
	return recs
}

// attribute tells a record what its envelope says of it.
func (r *record) attribute(o *origin, kind envelope.Kind) {
	r.cut = r.cut || o.cut
	if r.from = o; o.number > 0 {
		r.number = o.number
	}
	if !r.hasTime && o.hasTime {
		r.time, r.hasTime, r.zoneUnknown = o.time, true, o.assumed
	}
	if kind == envelope.CloudSQL {
		r.message, r.detail, r.context, r.query = unfile(r.message), unfile(r.detail), unfile(r.context), unfile(r.query)
	}
}

// unfile takes the file and line that AlloyDB puts in front of its messages off: "[postgres.c:123]  ".
func unfile(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' {
		return b
	}
	i := bytes.IndexByte(b[:min(len(b), 128)], ']')
	if i < 0 || !bytes.HasPrefix(b[i:], []byte("]  ")) {
		return b
	}
	name, line, ok := bytes.Cut(b[1:i], []byte(":"))
	if !ok || !allDigits(line) || len(name) == 0 || bytes.ContainsAny(name, " []") {
		return b
	}
	return b[i+3:]
}

// fieldsParser reads JSON objects that have the fields of a record apart.
type fieldsParser struct {
	clock clock
	scan  envelope.Scanner
	size  *spans
	recs  []record
}

func (p *fieldsParser) parse(b []byte, drop func(reason string, from, to int)) []record {
	p.scan.Reset()
	p.recs = p.recs[:0]
	for pos := 0; pos < len(b); {
		e, ok := p.scan.Next(b, pos)
		if !ok {
			e.End, e.Class = len(b), envelope.Malformed
		}
		switch e.Class {
		case envelope.Wrapped:
			rec := p.record(e.Fields)
			rec.start, rec.bytes = pos, p.size.of(pos, e.End)
			if rec.severity.primary() {
				p.recs = append(p.recs, rec)
			} else {
				drop(DropForeign, pos, e.End)
			}
		case envelope.Frame:
			if p.size.of(pos, e.End) > 0 { // else it is the newline that was put after an object
				drop(DropEnvelope, pos, e.End)
			}
		case envelope.Malformed:
			drop(DropMalformed, pos, e.End)
		default:
			drop(DropForeign, pos, e.End)
		}
		pos = e.End
	}
	return p.recs
}

func (p *fieldsParser) record(f *envelope.Fields) record {
	r := record{
		user: f.User, database: f.Database, app: f.App, client: f.Client, session: f.Session, pid: f.Pid, tag: f.Tag, vxid: f.Vxid,
		number: numberOf(f.Number), state: f.State, message: f.Message, context: f.Context, query: f.Query, hasVxid: f.Vxid != nil,
		hasCtx: len(f.InternalQuery) > 0 || len(f.Context) > 0 || len(f.Query) > 0,
		worker: string(f.Backend) == "parallel worker" || len(f.Leader) > 0 && string(f.Leader) != "0",
	}
	if len(f.Detail) > 0 {
		r.detail = f.Detail
	}
	if t, n, ok := p.clock.read(f.Time); ok && n == len(f.Time) {
		r.time, r.hasTime, r.zoneUnknown = t, true, p.clock.unknown
	}
	if r.severity = labelOf(f.Severity); r.severity == labelNone {
		r.severity = severityOf(f.Severity, f.State)
	}
	if p.scan.Kind == envelope.Azure {
		p.azure(&r, f.Prefix)
	}
	return r
}

// maxPrefix is how long what stands before the label of a message may be.
const maxPrefix = 1024

// azure takes the prefix and the label off the message of a flexible server, whose entries have no other place for them. A single server's
// message is bare.
func (p *fieldsParser) azure(r *record, prefix []byte) {
	p.azurePrefix(r, prefix)
	l, start, ok := findLabel(r.message[:min(len(r.message), maxPrefix)])
	if !ok || r.severity.primary() && l != r.severity || len(prefix) > 0 && timeShape(r.message) == 0 {
		return
	}
	_, n := labelAt(r.message[start:])
	if n == 0 {
		return
	}
	if r.severity == labelNone {
		r.severity = l
	}
	p.azurePrefix(r, r.message[:start])
	rec := record{message: r.message[start+n:]}
	new(stderrParser).verbose(&rec)
	if r.message = rec.message; rec.state != nil {
		r.state = rec.state
	}
}

// azurePrefix reads "%t-%c-", the prefix that Azure has unless it is changed: of another one the process says whose the record is.
func (p *fieldsParser) azurePrefix(r *record, b []byte) {
	_, n, ok := p.clock.read(b) // to the second only: the entry's own time is better
	if !ok {
		return
	}
	id := bytes.Trim(b[n:], "-")
	if k := sessionShape(id); k > 0 && k == len(id) {
		r.session = id
	}
}
