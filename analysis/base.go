package analysis

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// baseTables are the tables of the base: traffic summed over the window, free of candidates. Each is a cache file of its own.
var baseTables = [...]struct{ name, columns string }{
	{"origins", "template VARCHAR, kind VARCHAR, name VARCHAR, calls BIGINT"},
	{"totals", "template VARCHAR, calls BIGINT, errors BIGINT, time_us BIGINT"},
	{"latency", "template VARCHAR, bucket BIGINT, n BIGINT"},
	{"shapes", "signature VARCHAR, explicit BOOLEAN, partial BOOLEAN, opaque BOOLEAN, overflow BOOLEAN, n BIGINT"},
	{"slots", "table_name VARCHAR, column_name VARCHAR, slot BIGINT, calls BIGINT"},
}

// summed are the warehouse's tables that the base sums up.
var summed = [...]string{warehouse.Rollups, warehouse.Opaque, warehouse.Transactions, warehouse.KeySlots}

// baseFormat changes when the base's tables do, so that no cache of another program is taken.
const baseFormat = 1

// baseIndex is the cache file that says which base there is and which files it sums up.
type baseIndex struct {
	Format  int      `json:"format"`
	Version string   `json:"version"` // of the snapshot; part of the names of the base's files
	Files   []string `json:"files"`   // sorted
}

const baseIndexName = "base.json"

// loadBase makes the tables base_*: from the cache if it covers the snapshot, else by adding to it what came since, else anew. A window of its
// own is summed anew and not cached.
func (b *builder) loadBase(ctx context.Context) error {
	if b.counted {
		return b.countedBase(ctx)
	}
	if !b.o.From.IsZero() || !b.o.To.IsZero() {
		return b.sumBase(ctx, nil)
	}
	want := baseIndex{Format: baseFormat, Version: b.snap.Version()[:16]}
	for _, t := range summed {
		for _, f := range b.snap.Files(t) {
			want.Files = append(want.Files, f.Path)
		}
	}
	slices.Sort(want.Files)
	b.baseFiles = want.Files
	have, ok := b.cachedBase(ctx)
	var from *baseIndex
	if ok {
		from = have.under(want.Files, b.snap.Parts())
	}
	if from != nil && slices.Equal(from.Files, want.Files) {
		if err := b.baseViews(ctx, "base", have); err == nil {
			return b.renameBase(ctx, have, from)
		}
		from = nil // deleted meanwhile
	}
	if err := b.sumBase(ctx, from); err != nil {
		return err
	}
	if err := b.saveBase(ctx, want, have); err != nil {
		b.note("the sums of the traffic are not cached: " + err.Error())
	}
	return nil
}

// cachedBase reads the index; one that does not read is none.
func (b *builder) cachedBase(ctx context.Context) (*baseIndex, bool) {
	data, ok := b.w.Cache(ctx, baseIndexName)
	var x baseIndex
	if !ok || json.Unmarshal(data, &x) != nil || x.Format != baseFormat {
		return nil, false
	}
	for _, t := range baseTables {
		if _, ok := b.w.CacheURL(ctx, x.file(t.name)); !ok {
			return nil, false
		}
	}
	return &x, true
}

func (x *baseIndex) file(table string) string {
	return fmt.Sprintf("base-%s/%s.parquet", x.Version, table)
}

// under names what the base sums up by the files that there are now: of a file that upkeep merged from others, which it has all of, the base
// has that one. It is nil if the base sums up rows that are no longer there, or some of a merged file's.
func (x *baseIndex) under(files []string, parts map[string][]string) *baseIndex {
	out := &baseIndex{Format: x.Format, Version: x.Version}
	used := 0
	var whole func(file string) (n int, ok bool) // of the base's files in it
	whole = func(file string) (n int, ok bool) {
		if _, in := slices.BinarySearch(x.Files, file); in {
			return 1, true
		}
		for _, p := range parts[file] {
			m, ok := whole(p)
			if !ok {
				return 0, false
			}
			n += m
		}
		return n, n > 0
	}
	for _, f := range files {
		if n, ok := whole(f); ok {
			out.Files = append(out.Files, f)
			used += n
		}
	}
	if used != len(x.Files) {
		return nil
	}
	return out
}

// renameBase keeps a base under the names that its files have now: what became of the old ones is not known for ever.
func (b *builder) renameBase(ctx context.Context, have, now *baseIndex) error {
	if slices.Equal(have.Files, now.Files) {
		return nil
	}
	data, err := json.Marshal(now)
	if err == nil {
		err = b.w.SetCache(ctx, baseIndexName, data)
	}
	if err != nil {
		b.note("the sums of the traffic are not cached: " + err.Error())
	}
	return nil
}

// baseViews makes views prefix_* of a cached base.
func (b *builder) baseViews(ctx context.Context, prefix string, x *baseIndex) error {
	for _, t := range baseTables {
		url, _ := b.w.CacheURL(ctx, x.file(t.name))
		if err := b.db.ViewOf(ctx, prefix+"_"+t.name, url); err != nil {
			return err
		}
	}
	return nil
}

// sumBase sums the files of the snapshot that an earlier base lacks and adds that base, if there is one.
func (b *builder) sumBase(ctx context.Context, earlier *baseIndex) error {
	for _, t := range summed {
		if earlier == nil {
			break
		}
		var urls []string
		for i, f := range b.snap.Files(t) {
			if _, in := slices.BinarySearch(earlier.Files, f.Path); !in {
				urls = append(urls, b.snap.URLs(t)[i])
			}
		}
		if err := b.db.Table(ctx, t, urls); err != nil {
			return err
		}
	}
	from, to := b.window()
	for _, v := range [...]struct{ name, typ, value string }{
		{"from_minute", "TIMESTAMPTZ", from.Format(time.RFC3339)}, {"to_minute", "TIMESTAMPTZ", to.Format(time.RFC3339)},
		{"from_day", "DATE", from.Format(time.DateOnly)}, {"to_day", "DATE", to.Format(time.DateOnly)},
	} {
		if err := b.db.Exec(ctx, fmt.Sprintf("SET VARIABLE %s = %s '%s'", v.name, v.typ, v.value)); err != nil {
			return err
		}
	}
	if err := b.db.Exec(ctx, query("base.sql")); err != nil {
		return err
	}
	if earlier != nil {
		if err := b.baseViews(ctx, "old", earlier); err != nil {
			return err
		}
	} else {
		for _, t := range baseTables {
			if err := b.db.Exec(ctx, fmt.Sprintf("CREATE TEMP TABLE old_%s (%s)", t.name, t.columns)); err != nil {
				return err
			}
		}
	}
	return b.db.Exec(ctx, query("merge.sql"))
}

// saveBase writes the base's tables and then the index, and removes the files of the base before. A reader that loses its files to that sums
// anew.
func (b *builder) saveBase(ctx context.Context, x baseIndex, before *baseIndex) error {
	dir, err := os.MkdirTemp("", "foreshard-base-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, t := range baseTables {
		path := filepath.Join(dir, t.name)
		if err := b.db.Export(ctx, "base_"+t.name, path); err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := b.w.SetCacheFile(ctx, x.file(t.name), data); err != nil {
			return err
		}
	}
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	if err := b.w.SetCache(ctx, baseIndexName, data); err != nil {
		return err
	}
	if before == nil || before.Version == x.Version {
		return nil
	}
	for _, t := range baseTables {
		if err := b.w.DropCache(ctx, before.file(t.name)); err != nil {
			return err
		}
	}
	return nil
}
