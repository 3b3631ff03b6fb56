package upkeep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foreshard/foreshard/analysis/warehouse"
)

// Retention is how long the rows of a table are kept, by table. Templates, facts, the shapes of transactions, the ledger and how far sources
// were read have no days, and stay: writers rely on what they know to be there.
type Retention map[string]time.Duration

// day is the least retention, and the step.
const day = 24 * time.Hour

// undated is the folder of rows whose source has no times; age says nothing about them.
var undated = warehouse.Day(time.Time{})

// ParseRetention reads "TABLE=AGE,…", ages as 90d, 12w or 36h, and an age for all tables that are not named; both may be empty.
func ParseRetention(list, all string) (Retention, error) {
	r := Retention{}
	if all != "" {
		age, err := parseAge(all)
		if err != nil {
			return nil, fmt.Errorf("keep all tables for %q: %w", all, err)
		}
		for _, t := range dated() {
			r[t] = age
		}
	}
	named := map[string]bool{}
	for _, part := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' }) {
		table, text, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("keep %q: write TABLE=AGE, for example rollups=90d", part)
		}
		if !slices.Contains(dated(), table) {
			return nil, fmt.Errorf("keep table %q: tables with days are %s", table, strings.Join(dated(), ", "))
		}
		if named[table] {
			return nil, fmt.Errorf("keep table %q: it is named twice", table)
		}
		age, err := parseAge(text)
		if err != nil {
			return nil, fmt.Errorf("keep table %q: %w", table, err)
		}
		r[table], named[table] = age, true
	}
	if len(r) == 0 {
		return nil, nil
	}
	return r, nil
}

// dated lists the tables that have days.
func dated() []string {
	var out []string
	for _, t := range warehouse.Tables() {
		if t.ByDay {
			out = append(out, t.Name)
		}
	}
	return out
}

func parseAge(text string) (time.Duration, error) {
	age, err := time.ParseDuration(text)
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			var n int64
			n, err = strconv.ParseInt(number, 10, 32)
			age = time.Duration(n) * unit
			if n > 36500 {
				err = fmt.Errorf("more than a hundred years")
			}
		}
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("age %q does not read: write a number of days or weeks, 90d or 12w", text)
	case age < day:
		return 0, fmt.Errorf("age %q: whole days are dropped, give 1d or more", text)
	}
	return age, nil
}

// over lists the files of days whose every row is older than its table's age. Age counts from the last event or row, of a log or not, if that is
// earlier than now: a clock that jumps ahead must not empty a warehouse.
func (r Retention) over(snap *warehouse.Snapshot, now time.Time) []warehouse.File {
	var out []warehouse.File
	last := snap.Ledger.To
	for _, t := range dated() {
		for _, f := range snap.Files(t) {
			if f.To.After(last) {
				last = f.To
			}
		}
	}
	if last.Before(now) {
		now = last
	}
	for _, t := range dated() {
		age, ok := r[t]
		if !ok {
			continue
		}
		kept := warehouse.Day(now.Add(-age)) // the first day that has rows which are young enough
		for _, f := range snap.Files(t) {
			if d := f.Day(); d != "" && d != undated && d < kept {
				out = append(out, f)
			}
		}
	}
	return out
}
