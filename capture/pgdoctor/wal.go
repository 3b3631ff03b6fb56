package pgdoctor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/foreshard/foreshard/capture/pgwal"
)

// WAL is what reading the WAL needs beside settings.
type WAL struct {
	Slots        int      `json:"slots"`   // replication slots there are
	Senders      int      `json:"senders"` // processes that send WAL
	Create       bool     `json:"may_create_publications"`
	Standbys     string   `json:"synchronous_standby_names"`
	Publications []string `json:"publications"` // SQL of the publications that reading all tables needs
}

// wal asks what reading the WAL needs.
func (r *reader) wal(dsn string) error {
	err := r.conn.QueryRow(r.ctx, `select (select count(*) from pg_replication_slots), (select count(*) from pg_stat_replication),
		has_database_privilege(current_database(), 'create'), current_setting('synchronous_standby_names')`).Scan(&r.f.WAL.Slots, &r.f.WAL.Senders, &r.f.WAL.Create, &r.f.WAL.Standbys)
	if err != nil {
		return fmt.Errorf("ask for replication: %w", err)
	}
	r.f.WAL.Publications, err = pgwal.SQL(r.ctx, pgwal.Config{DSN: dsn, Dir: "."})
	if err != nil && !errors.Is(err, pgwal.ErrSetup) { // there are no tables
		return err
	}
	return nil
}

// walRoom is whether there is room for one reader more.
func walRoom(f *Facts) (out []Finding) {
	const cost = "a restart; some hundred bytes of shared memory each"
	if n := f.number("max_replication_slots"); n >= 0 && int64(f.WAL.Slots) >= n {
		out = append(out, Finding{Code: "max_replication_slots", Weight: Blocks, Message: fmt.Sprintf("max_replication_slots = %d, and there are %d: none is left", n, f.WAL.Slots),
			Fix: []string{fmt.Sprintf("ALTER SYSTEM SET max_replication_slots = %d;", max(10, 2*n))}, Cost: cost, Restart: true})
	}
	if n := f.number("max_wal_senders"); n >= 0 && int64(f.WAL.Senders) >= n {
		out = append(out, Finding{Code: "max_wal_senders", Weight: Blocks, Message: fmt.Sprintf("max_wal_senders = %d, and %d are in use: none is left", n, f.WAL.Senders),
			Fix: []string{fmt.Sprintf("ALTER SYSTEM SET max_wal_senders = %d;", max(10, 2*n))}, Cost: cost, Restart: true})
	}
	if pgwal.TakesAnyStandby(f.WAL.Standbys) {
		out = append(out, Finding{Code: "synchronous_standby_names", Weight: Blocks, Message: fmt.Sprintf("synchronous_standby_names = %q takes any standby, a reader of the WAL too, and commits would wait for it: name the standbys", f.WAL.Standbys)})
	}
	return out
}

// walUse is how to read the WAL, in lines.
func walUse(f *Facts) []string {
	if len(f.WAL.Publications) == 0 {
		return nil
	}
	out := []string{"run --wal DSN, capture --wal DSN: rows written by table, and which transactions stay on one key"}
	if f.WAL.Create {
		return append(out, "with --wal-create-publication, as a role that owns the tables; or let one run:", strings.Join(f.WAL.Publications, "\n         sql   "))
	}
	return append(out, "an owner of the tables runs before:", strings.Join(f.WAL.Publications, "\n         sql   "))
}
