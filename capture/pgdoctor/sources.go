package pgdoctor

import (
	"fmt"
	"slices"
	"strings"
)

// statistics is pg_stat_statements: calls and times per statement, without values, sessions or order.
func statistics(f *Facts) Source {
	s := Source{Name: "pg_stat_statements", Findings: slices.Concat(statsPresence(f), statsContent(f))}
	s.settle()
	switch s.Seen {
	case seenAll:
		s.Shows = "calls and times of every statement, without values, sessions and transactions"
	case seenPart:
		s.Shows = "calls and times of part of the statements, see below"
	default:
		s.Shows = "nothing"
	}
	return s
}

const statsCost = "a restart; some microseconds a statement and pg_stat_statements.max times about 1 kB of shared memory, the texts in a file"

func statsPresence(f *Facts) []Finding {
	preloaded := slices.ContainsFunc(strings.Split(f.Settings["shared_preload_libraries"], ","), func(s string) bool {
		return strings.Trim(strings.TrimSpace(s), `"`) == "pg_stat_statements"
	})
	_, known := f.Settings["shared_preload_libraries"]
	_, loaded := f.Settings["pg_stat_statements.max"] // the module's settings exist where it is loaded
	switch {
	case f.Stats != nil:
		return nil
	case !preloaded && !loaded:
		libraries := "pg_stat_statements"
		if have := f.Settings["shared_preload_libraries"]; have != "" {
			libraries = have + ",pg_stat_statements"
		}
		message := "pg_stat_statements is not loaded"
		if !known {
			message = "pg_stat_statements is not loaded, as far as this role can see; the fix must keep the libraries that are loaded already"
			libraries = "...,pg_stat_statements"
		}
		return []Finding{{Code: "not_loaded", Weight: Blocks, Message: message, Cost: statsCost, Restart: true,
			Fix: []string{"ALTER SYSTEM SET shared_preload_libraries = '" + strings.ReplaceAll(libraries, "'", "''") + "';", "CREATE EXTENSION pg_stat_statements; -- in database " + ident(f.Database) + ", after the restart"}}}
	}
	return []Finding{{Code: "unreadable", Weight: Blocks, Message: "pg_stat_statements is loaded and cannot be read here: " + f.StatsWhy,
		Fix: []string{"CREATE EXTENSION pg_stat_statements; -- in database " + ident(f.Database)}, Cost: "none: a view over what is collected already"}}
}

func statsContent(f *Facts) []Finding {
	var out []Finding
	if f.Stats == nil {
		return nil
	}
	if !f.Role.ReadAllStats && !f.Role.Superuser {
		out = append(out, Finding{Code: "privilege", Weight: Hides, Message: fmt.Sprintf("role %q is no member of pg_read_all_stats: the texts of other roles' statements are hidden", f.Role.Name),
			Fix: []string{"GRANT pg_read_all_stats TO " + ident(f.Role.Name) + ";"}, Cost: "the role reads all statements' texts, which may hold literals of utility statements"})
	}
	if f.is("pg_stat_statements.track", "none") {
		out = append(out, Finding{Code: "track", Weight: Blocks, Message: "pg_stat_statements.track = none: nothing is counted", Fix: []string{"ALTER SYSTEM SET pg_stat_statements.track = 'top';"}, Cost: "some microseconds a statement"})
	}
	if f.is("compute_query_id", "off") {
		out = append(out, Finding{Code: "compute_query_id", Weight: Blocks, Message: "compute_query_id = off: nothing is counted", Fix: []string{"ALTER SYSTEM SET compute_query_id = 'auto';"}, Cost: "some microseconds a statement"})
	}
	if limit := f.number("pg_stat_statements.max"); f.Stats.Dealloc > 0 || f.Stats.Dealloc < 0 && limit > 0 && f.Stats.Entries*10 >= limit*9 {
		more := max(2*limit, 10000)
		message := fmt.Sprintf("pg_stat_statements.max = %d is too few: rows were evicted with their counts", limit)
		if f.Stats.Dealloc < 0 {
			message = fmt.Sprintf("pg_stat_statements.max = %d is nearly reached; before PostgreSQL 14 the server does not tell evictions, so some are likely", limit)
		}
		out = append(out, Finding{Code: "evictions", Weight: Hides, Message: message,
			Fix: []string{fmt.Sprintf("ALTER SYSTEM SET pg_stat_statements.max = %d;", more)}, Cost: "a restart; about 1 kB of shared memory a row", Restart: true})
	}
	if f.is("pg_stat_statements.track_utility", "off") {
		out = append(out, Finding{Code: "track_utility", Weight: Note, Message: "pg_stat_statements.track_utility = off: BEGIN, COMMIT, SET, CALL and the like are not counted"})
	}
	if f.Version >= 140000 {
		out = append(out, Finding{Code: "utility_undercount", Weight: Note, Message: "from 14 on, a utility statement that is prepared by name counts once per session, however often it runs"})
	}
	for _, d := range f.Databases {
		if d.Extension != "" && f.Available != "" && d.Extension != f.Available {
			out = append(out, Finding{Code: "old_extension", Weight: Note, Message: fmt.Sprintf("database %q has pg_stat_statements %s, the server brings %s", d.Name, d.Extension, f.Available),
				Fix: []string{"ALTER EXTENSION pg_stat_statements UPDATE; -- in database " + ident(d.Name)}, Cost: "none; columns of the view change"})
		}
		if d.Error != "" {
			out = append(out, Finding{Code: "database_unreachable", Weight: Note, Message: fmt.Sprintf("database %q was not asked: %s", d.Name, d.Error)})
		}
	}
	for _, o := range f.Overrides {
		if o.Name == "pg_stat_statements.track" && o.Value == "none" {
			out = append(out, Finding{Code: "override", Weight: Hides, Message: fmt.Sprintf("pg_stat_statements.track = none for role %q, database %q (empty: all)", o.Role, o.Database),
				Fix: []string{resetOf(o)}, Cost: "that traffic is counted as everybody's is"})
		}
	}
	return out
}

// wal is logical replication: which rows of which tables each transaction wrote; no reads, no texts.
func wal(f *Facts) Source {
	s := Source{Name: "wal"}
	if !f.is("wal_level", "logical") {
		s.Findings = append(s.Findings, Finding{Code: "wal_level", Weight: Blocks, Message: "wal_level = " + f.Settings["wal_level"] + ": rows cannot be read out of the WAL",
			Fix: []string{"ALTER SYSTEM SET wal_level = 'logical';"}, Cost: "a restart; more WAL, mostly for updates and deletes of tables with replica identity FULL", Restart: true})
	}
	if f.Replica && f.Version < 160000 {
		s.Findings = append(s.Findings, Finding{Code: "replica", Weight: Blocks, Message: "this is a replica, and replicas decode WAL from 16 on: connect to the primary"})
	}
	if !f.Role.Replication && !f.Role.Superuser {
		s.Findings = append(s.Findings, Finding{Code: "role_replication", Weight: Blocks, Message: fmt.Sprintf("role %q may not replicate", f.Role.Name),
			Fix: []string{"ALTER ROLE " + ident(f.Role.Name) + " REPLICATION;"}, Cost: "the role can read every change and hold WAL"})
	}
	s.Findings = append(s.Findings, walRoom(f)...)
	if len(f.Nokey) > 0 {
		s.Findings = append(s.Findings, Finding{Code: "replica_identity", Weight: Hides, Message: fmt.Sprintf("%d of %d tables have no replica identity (%s): a publication of their updates and deletes makes those FAIL; only their inserts are read",
			len(f.Nokey), f.Tables, names(f.Nokey)), Cost: "none: a publication of their own has no updates and deletes"})
	}
	if v, ok := f.Settings["max_slot_wal_keep_size"]; ok && v == "-1" {
		s.Findings = append(s.Findings, Finding{Code: "max_slot_wal_keep_size", Weight: Note, Message: "max_slot_wal_keep_size = -1: a slot that nobody reads holds WAL until the volume is full",
			Fix: []string{"ALTER SYSTEM SET max_slot_wal_keep_size = '10GB';"}, Cost: "a slot that falls behind further than that is lost and must be made anew"})
	} else if !ok {
		s.Findings = append(s.Findings, Finding{Code: "max_slot_wal_keep_size", Weight: Note, Message: "before 13 nothing bounds the WAL that a slot holds: a slot that nobody reads fills the volume"})
	}
	s.settle()
	switch s.Seen {
	case seenAll:
		s.Shows = "every row written, by transaction"
	case seenPart:
		s.Shows = "rows written in part of the tables, by transaction"
	default:
		s.Shows = "nothing"
	}
	return s
}

func names(list []string) string {
	if len(list) <= maxTables {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:maxTables], ", ") + fmt.Sprintf(" and %d more", len(list)-maxTables)
}
