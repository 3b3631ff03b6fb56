package warehouse_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// What a file holds in memory at a time is bounded by rows that are counted here: the Parquet writer tells too few bytes once a dictionary is full, as
// of many different texts and then one again and again. (A13)
func TestRowGroupsAreBounded(t *testing.T) {
	const distinct, again, most = 140_000, 1000, 1 << 16
	root := t.TempDir()
	w := open(t, dir(t, root))
	c := commitOf("a", 1, 1)
	for i := range distinct {
		c.Rollups = append(c.Rollups, warehouse.Rollup{Minute: minute, Template: fmt.Sprint("template ", i), Calls: 1})
	}
	for i := range again {
		c.Rollups = append(c.Rollups, warehouse.Rollup{Minute: minute, Template: "t", User: fmt.Sprint(i), Calls: 1})
	}
	mustCommit(t, w, c)
	rows := int64(0)
	for _, f := range w.Snapshot().Files(warehouse.Rollups) {
		r, err := file.OpenParquetFile(filepath.Join(root, f.Path), false)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for g := range r.NumRowGroups() {
			n := r.RowGroup(g).NumRows()
			if rows += n; n > most {
				t.Errorf("%s has a row group of %d rows", f.Path, n)
			}
		}
	}
	if rows != distinct+again+1 {
		t.Errorf("%d rows are there", rows)
	}
}
