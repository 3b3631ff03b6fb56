package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Storage is what a warehouse needs of a store; names are slash-separated. An object store with conditional puts is one: Create is a put with
// If-None-Match, and no method renames or depends on the order of a listing.
type Storage interface {
	// Create makes a file that appears whole or not at all, durable when Create returns. If the name is taken it changes nothing and the
	// error is fs.ErrExist.
	Create(ctx context.Context, name string, data []byte) error
	// Replace is Create over what may be there already. It is used for caches, and once for manifest 0 when its format is raised.
	Replace(ctx context.Context, name string, data []byte) error
	// Read returns a file; fs.ErrNotExist if there is none.
	Read(ctx context.Context, name string) ([]byte, error)
	// Size returns the length of a file; fs.ErrNotExist if there is none.
	Size(ctx context.Context, name string) (int64, error)
	// List returns what is below a folder, in any order: everything that was there before the call and was not removed (object stores and local
	// file systems list so). "" is the whole store.
	List(ctx context.Context, folder string) ([]Entry, error)
	// Remove deletes a file; none is no error. It is used for caches and upkeep only.
	Remove(ctx context.Context, name string) error
	// URL is how a query engine names the file.
	URL(name string) string
	// Place is how messages name the store.
	Place() string
}

// Entry is a file of a listing.
type Entry struct {
	Name     string
	Size     int64
	Modified time.Time // by the store's clock
}

// Dir is a Storage on a local file system.
type Dir struct{ root string }

var _ Storage = (*Dir)(nil)

// NewDir returns the storage at a directory, which is made if it is absent.
func NewDir(root string) (*Dir, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open warehouse %q: %w", root, err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(abs, 0o755); err != nil {
			return nil, fmt.Errorf("make warehouse: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("open warehouse: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("open warehouse %q: it is a file; name a directory", root)
	}
	return &Dir{root: abs}, nil
}

// Place returns the directory.
func (d *Dir) Place() string { return d.root }

// URL returns the path of a file.
func (d *Dir) URL(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// Create writes a temporary file, flushes it, and links it to its name: link(2) fails if the name is taken, which rename(2) does not.
func (d *Dir) Create(_ context.Context, name string, data []byte) error {
	return d.put(name, data, os.Link)
}

// Replace writes a temporary file, flushes it, and renames it over the name.
func (d *Dir) Replace(_ context.Context, name string, data []byte) error {
	return d.put(name, data, os.Rename)
}

func (d *Dir) put(name string, data []byte, publish func(from, to string) error) (err error) {
	target := d.URL(name)
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	defer func() {
		if rmErr := os.Remove(f.Name()); err == nil && rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
			err = fmt.Errorf("write %q: %w", name, rmErr)
		}
	}()
	mode := fs.FileMode(0o644)
	if path.Base(name) == keyName {
		mode = 0o600
	}
	if err := fill(f, data, mode); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	if err := publish(f.Name(), target); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	return syncDir(dir)
}

// fill writes, flushes and closes.
func fill(f *os.File, data []byte, mode fs.FileMode) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the names of a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("flush directory: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("flush directory: %w", err)
	}
	return nil
}

// Read returns a file's bytes.
func (d *Dir) Read(_ context.Context, name string) ([]byte, error) { return os.ReadFile(d.URL(name)) }

// Size returns a file's length.
func (d *Dir) Size(_ context.Context, name string) (int64, error) {
	info, err := os.Stat(d.URL(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// List walks a directory.
func (d *Dir) List(_ context.Context, folder string) ([]Entry, error) {
	var entries []Entry
	err := filepath.WalkDir(d.URL(folder), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return absent(err)
		}
		info, err := e.Info()
		if err != nil {
			return absent(err)
		}
		rel, err := filepath.Rel(d.root, p)
		if err != nil {
			return err
		}
		entries = append(entries, Entry{filepath.ToSlash(rel), info.Size(), info.ModTime()})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", folder, err)
	}
	return entries, nil
}

// absent makes nil of the error of a file that is not there: it was removed during the listing.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Remove deletes a file.
func (d *Dir) Remove(_ context.Context, name string) error {
	if strings.Contains(name, "..") {
		return fmt.Errorf("remove %q: not a name of the warehouse", name)
	}
	if err := os.Remove(d.URL(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
