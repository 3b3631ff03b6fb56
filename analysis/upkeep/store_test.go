package upkeep_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// objects is a store as an object store is one: conditional puts, reads, listings, its own clock. before is called at each Create, as the
// place where a process may sleep, die, or be overtaken by others.
type objects struct {
	files  map[string]map[string]object // by first folder
	now    func() time.Time
	before func(name string) error
}

type object struct {
	data     []byte
	modified time.Time
}

var _ warehouse.Storage = (*objects)(nil)

func newObjects(now func() time.Time) *objects {
	return &objects{files: map[string]map[string]object{}, now: now, before: func(string) error { return nil }}
}

func (o *objects) Create(ctx context.Context, name string, data []byte) error {
	if err := o.before(name); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	if _, taken := o.files[top(name)][name]; taken {
		return fmt.Errorf("write %q: %w", name, fs.ErrExist)
	}
	return o.Replace(ctx, name, data)
}

// top is the first folder of a name.
func top(name string) string {
	folder, _, _ := strings.Cut(name, "/")
	return folder
}

func (o *objects) Replace(_ context.Context, name string, data []byte) error {
	if o.files[top(name)] == nil {
		o.files[top(name)] = map[string]object{}
	}
	o.files[top(name)][name] = object{slices.Clone(data), o.now()}
	return nil
}

func (o *objects) Read(_ context.Context, name string) ([]byte, error) {
	f, ok := o.files[top(name)][name]
	if !ok {
		return nil, fmt.Errorf("read %q: %w", name, fs.ErrNotExist)
	}
	return slices.Clone(f.data), nil
}

func (o *objects) Size(ctx context.Context, name string) (int64, error) {
	data, err := o.Read(ctx, name)
	return int64(len(data)), err
}

func (o *objects) List(_ context.Context, folder string) ([]warehouse.Entry, error) {
	var out []warehouse.Entry
	for first, files := range o.files {
		for name, f := range files {
			if folder == "" || folder == first {
				out = append(out, warehouse.Entry{Name: name, Size: int64(len(f.data)), Modified: f.modified})
			}
		}
	}
	return out, nil
}

func (o *objects) Remove(_ context.Context, name string) error {
	delete(o.files[top(name)], name)
	return nil
}

func (o *objects) URL(name string) string { return "object:" + name }
func (o *objects) Place() string          { return "objects" }

// dump writes the objects as files, for DuckDB.
func (o *objects) dump(root string) error {
	for _, files := range o.files {
		for name, f := range files {
			path := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, f.data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
