package warehouse

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// keyName is the file of the hash key.
const keyName = "key"

// keySize is the length of the hash key in bytes.
const keySize = 32

// Errors that callers tell apart; the messages around them name the place and what to do.
var (
	ErrForeign  = errors.New("not a foreshard warehouse")
	ErrNewer    = errors.New("written by a newer foreshard")
	ErrCorrupt  = errors.New("warehouse is damaged")
	ErrConflict = errors.New("another writer committed the same stream")
	ErrAbsent   = errors.New("no warehouse")
)

// errGone is a data file that is not there. Upkeep may have merged it into another: a newer snapshot tells.
var errGone = fmt.Errorf("a file is gone: %w", ErrCorrupt)

// Warehouse is an open warehouse. It is not safe for concurrent use; any number of processes may have one place open.
type Warehouse struct {
	store      Storage
	key        [keySize]byte
	snap       *Snapshot
	checkpoint int // number of the newest one seen, -1 none
}

// Options says how a warehouse is opened.
type Options struct {
	// Create makes the warehouse if the place is empty.
	Create bool
	// Key is the hash key of a warehouse that is made; nil draws one.
	Key *[keySize]byte
}

// Open reads the newest checkpoint of the warehouse at a store and the manifests after it, and makes the warehouse first if told to and the
// place is empty.
func Open(ctx context.Context, store Storage, o Options) (*Warehouse, error) {
	w := &Warehouse{store: store, checkpoint: -1}
	_, err := store.Size(ctx, manifestName(0))
	if errors.Is(err, fs.ErrNotExist) {
		err = w.create(ctx, o)
	}
	if err != nil {
		return nil, w.opening(err)
	}
	if err := w.readKey(ctx); err != nil {
		return nil, w.opening(err)
	}
	if w.snap, err = w.load(ctx); err != nil {
		return nil, w.opening(err)
	}
	if got := fingerprint(w.key); got != w.snap.key {
		return nil, w.opening(fmt.Errorf("file %q is not the key this warehouse was made with (fingerprint %s, not %s): restore it: %w",
			keyName, got, w.snap.key, ErrCorrupt))
	}
	if w.snap, err = w.checked(ctx, w.snap); err != nil {
		return nil, w.opening(err)
	}
	return w, nil
}

// checked is a snapshot whose files are all there: this one, or one after it if upkeep has deleted files meanwhile.
func (w *Warehouse) checked(ctx context.Context, s *Snapshot) (*Snapshot, error) {
	for {
		err := s.check(ctx)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, errGone) {
			return nil, err
		}
		newer, nerr := w.newer(ctx, s)
		if nerr != nil {
			return nil, nerr
		}
		if newer.head == s.head {
			return nil, err
		}
		s = newer
	}
}

func (w *Warehouse) opening(err error) error {
	return fmt.Errorf("open warehouse %q: %w", w.store.Place(), err)
}

// create writes the key and manifest 0. A crash between the two leaves a place that holds only the key, which counts as empty.
func (w *Warehouse) create(ctx context.Context, o Options) error {
	entries, err := w.store.List(ctx, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name != keyName && !strings.Contains(e.Name, ".new-") {
			return fmt.Errorf("it holds %q but no %q: name an empty directory: %w", e.Name, manifestName(0), ErrForeign)
		}
	}
	if !o.Create {
		return fmt.Errorf("no traffic was ever written there: %w", ErrAbsent)
	}
	var key [keySize]byte
	if o.Key != nil {
		key = *o.Key
	} else if _, err := rand.Read(key[:]); err != nil {
		return fmt.Errorf("draw key: %w", err)
	}
	if err := w.store.Create(ctx, keyName, key[:]); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := w.readKey(ctx); err != nil { // another process may have been first
		return err
	}
	m := manifest{Format: Format, Key: fingerprint(w.key)}
	data, err := m.encode()
	if err != nil {
		return err
	}
	if err := w.store.Create(ctx, manifestName(0), data); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (w *Warehouse) readKey(ctx context.Context) error {
	data, err := w.store.Read(ctx, keyName)
	if err != nil {
		return fmt.Errorf("read hash key: %w", err)
	}
	if len(data) != keySize {
		return fmt.Errorf("read hash key: %d bytes, not %d: restore file %q: %w", len(data), keySize, keyName, ErrCorrupt)
	}
	copy(w.key[:], data)
	return nil
}

// fingerprint names a key without giving it away.
func fingerprint(key [keySize]byte) string {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte("foreshard warehouse key"))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// HashKey derives a 16-byte key for one purpose from the warehouse's key.
func (w *Warehouse) HashKey(purpose string) (key [16]byte) {
	mac := hmac.New(sha256.New, w.key[:])
	mac.Write([]byte(purpose))
	copy(key[:], mac.Sum(nil))
	return key
}

// Place is how messages name the warehouse.
func (w *Warehouse) Place() string { return w.store.Place() }

// Snapshot is what the warehouse holds as of the last Open, Commit or Refresh. It does not change.
func (w *Warehouse) Snapshot() *Snapshot { return w.snap }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
