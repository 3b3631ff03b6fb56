package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/foreshard/foreshard/capture"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// Limits of what a record may hold; beyond them it is refused, whoever wrote it.
const (
	maxDecoded = 64 << 20 // bytes after decompression
	maxEvents  = 1 << 20
	maxCached  = 100_000 // templates remembered between records
)

// ErrRecord says that bytes are not a record that this program reads. Such a record is set aside and never guessed at.
var ErrRecord = errors.New("not a record of this layout")

// Decoder turns records back into batches. It is not safe for concurrent use. Batches are valid until the next call, templates for ever.
type Decoder struct {
	z         *zstd.Decoder
	body      []byte
	templates map[string]*sqltext.Template
	batch     Batch
	values    []capture.Value
	txns      []capture.Txn
	opaque    []capture.Opaque
}

// NewDecoder makes a decoder. The caller closes it.
func NewDecoder() (*Decoder, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDecoded))
	if err != nil {
		return nil, fmt.Errorf("make decoder: %w", err)
	}
	return &Decoder{z: z, templates: map[string]*sqltext.Template{}}, nil
}

// Close frees the decoder.
func (d *Decoder) Close() { d.z.Close() }

// reader walks over bytes. After a read beyond the end everything is zero and bad is set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) bytes() []byte  { return r.take(r.uint()) }
func (r *reader) string() string { return string(r.bytes()) }

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// end says whether everything was there and nothing more.
func (r *reader) end() bool { return !r.bad && len(r.b) == 0 }

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// exact reads what putExact wrote.
func (r *reader) exact(unit time.Duration) int64 {
	v := r.uint()
	ns := unzigzag(v>>1) * int64(unit)
	if v&1 != 0 {
		ns += unzigzag(r.uint())
	}
	return ns
}

// Decode reads one record.
func (d *Decoder) Decode(value []byte) (*Batch, error) {
	if len(value) <= len(magic) || string(value[:len(magic)]) != magic {
		return nil, fmt.Errorf("decode record: %w: it does not begin with %q", ErrRecord, magic)
	}
	v := value[len(magic)]
	if v < 1 || v > version {
		return nil, fmt.Errorf("decode record: %w: version %d, this program reads 1 to %d", ErrRecord, v, version)
	}
	r := reader{b: value[len(magic)+1:]}
	b := &d.batch
	*b = Batch{Agent: r.string(), Events: b.Events[:0]}
	if g := r.take(8); g != nil {
		b.Generation = binary.LittleEndian.Uint64(g)
	}
	number, before, n, born := r.uint(), r.uint(), r.uint(), uint64(0)
	if v >= 3 {
		born = r.uint()
	}
	if r.bad || number == 0 || number > 1<<62 || before > 1<<62 || born > 1<<62 || n > maxEvents {
		return nil, fmt.Errorf("decode record: %w: damaged head", ErrRecord)
	}
	b.Number, b.Before, b.Born = int64(number), int64(before), int64(born)
	body, err := d.z.DecodeAll(r.b, d.body[:0])
	if err != nil {
		return nil, fmt.Errorf("decode record: %w: %w", ErrRecord, err)
	}
	d.body = body
	if err := d.fill(reader{b: body}, int(n)); err != nil {
		return nil, fmt.Errorf("decode record %d of %q: %w: %w", b.Number, b.Agent, ErrRecord, err)
	}
	return b, nil
}

type origin struct{ session, user, database, app, client, search string }

type tags struct{ team, endpoint string }

// content is a record's dictionaries and columns while events are made of them.
type content struct {
	templates []*sqltext.Template
	origins   []origin
	tags      []tags
	values    []capture.Value
	cols      [columns]reader
	txns      []uint64
	last      int64
}

var errCut = errors.New("it is cut or has bytes too many")

func (d *Decoder) fill(r reader, n int) error {
	c := &content{}
	if err := d.dictionaries(&r, c); err != nil {
		return err
	}
	for i := range c.cols {
		c.cols[i].b = r.bytes()
	}
	report := r.bytes()
	if !r.end() {
		return errCut
	}
	if len(report) > 0 {
		d.batch.Report = &Report{}
		if err := cbor.Unmarshal(report, d.batch.Report); err != nil {
			return fmt.Errorf("read report: %w", err)
		}
	}
	if n > len(c.cols[colFlags].b) {
		return errCut
	}
	d.values, d.txns, d.opaque = d.values[:0], d.txns[:0], d.opaque[:0]
	for range n {
		d.batch.Events = append(d.batch.Events, capture.Event{})
		if err := d.event(c, &d.batch.Events[len(d.batch.Events)-1]); err != nil {
			return err
		}
	}
	for i := range c.cols {
		if !c.cols[i].end() {
			return errCut
		}
	}
	return nil
}

func (d *Decoder) dictionaries(r *reader, c *content) error {
	for range r.uint() {
		t, err := d.template(r.bytes())
		if err != nil {
			return err
		}
		if r.bad {
			return errCut
		}
		c.templates = append(c.templates, t)
	}
	for range r.uint() {
		in := reader{b: r.bytes()}
		c.origins = append(c.origins, origin{in.string(), in.string(), in.string(), in.string(), in.string(), in.string()})
		if r.bad || !in.end() {
			return errCut
		}
	}
	c.txns = make([]uint64, len(c.origins))
	for range r.uint() {
		in := reader{b: r.bytes()}
		c.tags = append(c.tags, tags{in.string(), in.string()})
		if r.bad || !in.end() {
			return errCut
		}
	}
	for range r.uint() {
		in := reader{b: r.bytes()}
		v := capture.Value{}
		head := in.byte()
		v.Null, v.Cut, v.Has = head&1 != 0, head&2 != 0, capture.HashTypes(head>>2)
		for k := range v.Slots {
			if v.Has&(1<<k) == 0 {
				continue
			}
			if b := in.take(10); b != nil {
				v.Slots[k], v.Eq[k] = binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint64(b[2:])
			}
		}
		if r.bad || !in.end() || v.Has > capture.IntHash|capture.TextHash|capture.UUIDHash {
			return errCut
		}
		c.values = append(c.values, v)
	}
	return nil
}

// template finds a template that was seen before by its very bytes, and makes it otherwise: its ID and its bound are never taken from the wire.
func (d *Decoder) template(b []byte) (*sqltext.Template, error) {
	if t := d.templates[string(b)]; t != nil {
		return t, nil
	}
	in := reader{b: b}
	code, text := in.string(), in.string()
	if !in.end() {
		return nil, errCut
	}
	slots, err := sqltext.DecodeSlots(code)
	if err != nil {
		return nil, err
	}
	if len(d.templates) >= maxCached {
		clear(d.templates)
	}
	t := sqltext.NewTemplate(text, slots)
	d.templates[string(b)] = t
	return t, nil
}

func at[T any](list []T, i uint64) (*T, error) {
	if i >= uint64(len(list)) {
		return nil, errors.New("it points beyond a dictionary")
	}
	return &list[i], nil
}

func (d *Decoder) event(c *content, e *capture.Event) error {
	flags, more := c.cols[colFlags].byte(), byte(0)
	if flags&flagMore != 0 {
		more = c.cols[colFlags].byte()
	}
	e.Kind, e.Auto, e.Timed, e.Copy = capture.Kind(flags&flagKind), flags&flagAuto != 0, flags&flagTimed != 0, more&moreCopy != 0
	if e.Kind == 0 && more&moreEvidence == 0 {
		return errors.New("an event has no kind")
	}
	if more&moreNoTime == 0 {
		c.last += c.cols[colTime].exact(time.Millisecond)
		e.Time = time.Unix(0, c.last).UTC()
	}
	i := c.cols[colOrigin].uint()
	o, err := at(c.origins, i)
	if err != nil {
		return err
	}
	e.Session, e.User, e.Database, e.App, e.Client, e.Search = o.session, o.user, o.database, o.app, o.client, o.search
	c.txns[i] += uint64(unzigzag(c.cols[colTxn].uint()))
	e.TxnID = c.txns[i]
	if flags&flagTemplate != 0 {
		t, err := at(c.templates, c.cols[colTemplate].uint())
		if err != nil {
			return err
		}
		e.Template = *t
	}
	if flags&flagTags != 0 {
		t, err := at(c.tags, c.cols[colTags].uint())
		if err != nil {
			return err
		}
		e.Team, e.Endpoint = t.team, t.endpoint
	}
	if e.Timed {
		e.Duration = time.Duration(c.cols[colDuration].exact(time.Microsecond))
	}
	if flags&flagValues != 0 {
		if err := d.eventValues(c, e); err != nil {
			return err
		}
	}
	return d.rare(&c.cols[colRare], e, more)
}

func (d *Decoder) eventValues(c *content, e *capture.Event) error {
	col := &c.cols[colValues]
	n := col.uint()
	if n > uint64(len(col.b)) {
		return errCut
	}
	begin, slot := len(d.values), 0
	for range n {
		slot += int(unzigzag(col.uint()))
		v, err := at(c.values, col.uint())
		if err != nil {
			return err
		}
		d.values = append(d.values, *v)
		d.values[len(d.values)-1].Slot = slot
	}
	e.Values = d.values[begin:len(d.values):len(d.values)]
	return nil
}

func (d *Decoder) rare(r *reader, e *capture.Event, more byte) error {
	if more&moreTxn != 0 {
		bits := r.uint()
		x := capture.Txn{Committed: bits&txnCommitted != 0, Partial: bits&txnPartial != 0, Serializable: bits&txnSerializable != 0}
		for i, t := range [...]*time.Time{&x.Start, &x.End} {
			if bits&(txnStart<<i) != 0 {
				*t = time.Unix(0, r.int()).UTC()
			}
		}
		x.Statements, x.Savepoints = int(r.int()), int(r.int())
		d.txns = append(d.txns, x)
		e.Txn = &d.txns[len(d.txns)-1]
	}
	if more&moreOpaque != 0 {
		d.opaque = append(d.opaque, capture.Opaque{Bytes: int(r.int()), Hash: r.string(), Reason: r.string()})
		e.Opaque = &d.opaque[len(d.opaque)-1]
	}
	if more&moreShare != 0 {
		e.Share = int(r.int())
	}
	if more&moreState != 0 {
		e.SQLState = r.string()
	}
	if more&moreEvidence != 0 {
		if err := readEvidence(r, e); err != nil {
			return err
		}
	}
	if r.bad {
		return errCut
	}
	return nil
}
