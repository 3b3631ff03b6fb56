package analysis

import (
	"context"
	"maps"
	"slices"

	"github.com/fxamacker/cbor/v2"
)

// digest is the part of a report's input that depends on the snapshot alone, as one cache file: another candidate over the same history reads
// it instead of asking DuckDB again.
type digest struct {
	Files   []string      `cbor:"1,keyasint"` // the base's files, as in baseIndex: the digest is valid for them
	Entries []digestEntry `cbor:"2,keyasint"`
	Format  int           `cbor:"3,keyasint"`
}

// digestEntry is the traffic of one template; P95 is negative if none of it was timed.
type digestEntry struct {
	Template  string   `cbor:"1,keyasint"`
	Calls     int64    `cbor:"2,keyasint"`
	Errors    int64    `cbor:"3,keyasint"`
	US        int64    `cbor:"4,keyasint"`
	P95       float64  `cbor:"5,keyasint"`
	Teams     []string `cbor:"6,keyasint"`
	Endpoints []string `cbor:"7,keyasint"`
	Apps      []string `cbor:"8,keyasint"`
}

const digestName = "digest"

// loadTraffic fills in totals and origins: from the digest if it is of this base, else from the base.
func (b *builder) loadTraffic(ctx context.Context) error {
	cached := b.baseFiles != nil
	if cached {
		if data, ok := b.w.Cache(ctx, digestName); ok && b.takeDigest(data) {
			return b.checkTotals()
		}
	}
	if err := b.loadTotals(ctx); err != nil {
		return err
	}
	if err := b.loadOrigins(ctx); err != nil {
		return err
	}
	if err := b.checkTotals(); err != nil || !cached {
		return err
	}
	data, err := cbor.Marshal(b.makeDigest())
	if err == nil {
		err = b.w.SetCache(ctx, digestName, data)
	}
	if err != nil {
		b.note("the sums of the traffic are not cached: " + err.Error())
	}
	return nil
}

// takeDigest says whether the cache was the digest of this base.
func (b *builder) takeDigest(data []byte) bool {
	var d digest
	if cbor.Unmarshal(data, &d) != nil || d.Format != baseFormat || len(d.Files) != len(b.baseFiles) {
		return false
	}
	for i := range d.Files {
		if d.Files[i] != b.baseFiles[i] {
			return false
		}
	}
	b.totals = make(map[string]total, len(d.Entries))
	b.p95 = make(map[string]float64, len(d.Entries))
	b.origins = make(map[string]*origins, len(d.Entries))
	for _, e := range d.Entries {
		b.totals[e.Template] = total{e.Calls, e.Errors, e.US}
		if e.P95 >= 0 {
			b.p95[e.Template] = e.P95
		}
		b.origins[e.Template] = &origins{e.Teams, e.Endpoints, e.Apps}
	}
	return true
}

func (b *builder) makeDigest() digest {
	d := digest{Files: b.baseFiles, Format: baseFormat}
	for _, id := range slices.Sorted(maps.Keys(b.totals)) {
		t := b.totals[id]
		e := digestEntry{Template: id, Calls: t.calls, Errors: t.errors, US: t.us, P95: -1}
		if p, ok := b.p95[id]; ok {
			e.P95 = p
		}
		if o := b.origins[id]; o != nil {
			e.Teams, e.Endpoints, e.Apps = o.teams, o.endpoints, o.apps
		}
		d.Entries = append(d.Entries, e)
	}
	return d
}
