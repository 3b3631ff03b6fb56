package upkeep

import (
	"cmp"
	"path"
	"slices"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// The bounds of one merge, which is held in memory: compressed bytes, rows, and files.
const (
	largeFile = 32 << 20 // from here on a file is not merged again
	unitBytes = 64 << 20
	unitLoose = 16 << 20 // bytes of those that writers made, which are held as rows
	unitRows  = 300_000  // of them
	unitFiles = 1000
)

// Where files are still being added to, a merge waits for openFiles, else for two.
const openFiles = 8

// units are the merges that are due, in a fixed order; no file is in two of them.
func units(snap *warehouse.Snapshot, now time.Time, full bool) [][]warehouse.File {
	closed := warehouse.Day(now.Add(-24 * time.Hour)) // days before are written to only by late sources
	var out [][]warehouse.File
	for _, t := range warehouse.Tables() {
		folders := map[string][]warehouse.File{}
		var order []string
		for _, f := range snap.Files(t.Name) {
			folder := path.Dir(f.Path)
			if folders[folder] == nil {
				order = append(order, folder)
			}
			folders[folder] = append(folders[folder], f)
		}
		slices.Sort(order)
		for _, folder := range order {
			least := openFiles
			if day := folders[folder][0].Day(); full || day != "" && day < closed {
				least = 2
			}
			out = append(out, cut(folders[folder], least, full)...)
		}
	}
	return out
}

// cut makes units of the files of one folder: the smallest first, and each further one only if it is at most twice as large as those before it
// together. So a row is written anew about once each time that its file doubles, not each time that upkeep runs.
func cut(files []warehouse.File, least int, full bool) [][]warehouse.File {
	small := slices.DeleteFunc(slices.Clone(files), func(f warehouse.File) bool { return f.Bytes >= largeFile })
	slices.SortFunc(small, func(a, b warehouse.File) int {
		return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Path, b.Path))
	})
	var out [][]warehouse.File
	for len(small) > 0 {
		n := unit(small, full)
		if n >= least {
			out = append(out, small[:n])
		}
		small = small[n:]
	}
	return out
}

// unit is how many of the files, by size, make one merge.
func unit(files []warehouse.File, full bool) int {
	var bytes, loose, rows int64
	for i, f := range files {
		if f.Replaces == 0 {
			rows += f.Rows
			loose += f.Bytes
		}
		same := i > 0 && files[i-1].Path == f.Path // a file that counts twice is merged twice at once
		switch {
		case i == 0 || same:
		case bytes+f.Bytes > unitBytes, loose > unitLoose, rows > unitRows, i >= unitFiles, !full && f.Bytes > 2*bytes:
			return i
		}
		bytes += f.Bytes
	}
	return len(files)
}
