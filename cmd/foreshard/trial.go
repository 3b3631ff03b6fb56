package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/prove"
	"github.com/foreshard/foreshard/capture/sqlfile"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/sqltext"
	"github.com/foreshard/foreshard/reports"
)

// trial proves statement after statement and keeps count.
type trial struct {
	lab     *prove.Lab
	planner *planner.Planner
	out     *bufio.Writer
	format  string
	counts  map[prove.Outcome]int
	causes  map[string]int // of refusals
}

func (t *trial) all(cmd *cobra.Command, f proveFlags, args []string) error {
	ctx := cmd.Context()
	var err error
	switch {
	case len(args) == 1:
		err = t.one(ctx, prove.Statement{Question: planner.Question{SQL: args[0]}})
	case f.generate > 0:
		err = t.generated(ctx, f)
	case f.warehouse != "":
		err = t.templates(ctx, f)
	case f.input != "-" && isSQL(f.input):
		err = t.files(ctx, f)
	default:
		err = t.lines(ctx, cmd.InOrStdin(), f.input)
	}
	if ferr := t.out.Flush(); ferr != nil {
		return errors.Join(err, fmt.Errorf("write results: %w", ferr))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "foreshard: %s\n", t.summary())
	for _, cause := range byCount(t.causes) {
		fmt.Fprintf(cmd.ErrOrStderr(), "  %6d refused: %s\n", t.causes[cause], cause)
	}
	if t.counts[prove.Refuted] > 0 {
		return &exitError{code: exitNo}
	}
	return nil
}

func (t *trial) generated(ctx context.Context, f proveFlags) error {
	gen, err := t.lab.Generator(ctx, f.seed)
	for n := 1; n <= f.generate && err == nil; n++ {
		st := gen.Statement()
		q := planner.Question{SQL: st.SQL}
		for _, p := range st.Params {
			q.Params = append(q.Params, planner.Param(p))
		}
		err = t.one(ctx, prove.Statement{ID: fmt.Sprintf("%d/%d", f.seed, n), Question: q})
	}
	return err
}

// templates proves what the warehouse's traffic consists of.
func (t *trial) templates(ctx context.Context, f proveFlags) error {
	w, err := analysis.OpenWarehouse(ctx, f.warehouse, false)
	if err != nil {
		return err
	}
	list, err := analysis.StoredTemplates(ctx, w)
	if err != nil {
		return err
	}
	draw := prove.NewDrawer(t.lab, t.planner, t.lab.Samples(ctx), f.seed)
	for _, st := range list {
		if err := t.draws(ctx, st.ID, st.Template.Text, draw.Draw(st.ID, st.Template, st.SearchPath, f.draws)); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return &exitError{exitThin, fmt.Errorf("warehouse %q holds no template", f.warehouse)}
	}
	return nil
}

// files proves query files: a statement with parameters is run with drawn values, one without as it is.
func (t *trial) files(ctx context.Context, f proveFlags) error {
	files, err := sqlfile.Files(f.input)
	if err != nil {
		return err
	}
	draw := prove.NewDrawer(t.lab, t.planner, t.lab.Samples(ctx), f.seed)
	for _, file := range files {
		list, err := sqlfile.Read(file)
		if err != nil {
			return err
		}
		for _, st := range list {
			id := strings.TrimSpace(fmt.Sprintf("%s:%d %s", st.File, st.Line, st.Name))
			tmpl := templateOf(st.SQL)
			if tmpl == nil || !slices.ContainsFunc(tmpl.Slots, func(s sqltext.Slot) bool { return s.Kind == sqltext.Bind }) {
				err = t.one(ctx, prove.Statement{ID: id, Question: planner.Question{SQL: st.SQL, Setup: st.Setup}})
			} else {
				drawn := draw.Draw(id, tmpl, nil, f.draws)
				for i := range drawn {
					drawn[i].Setup = st.Setup
				}
				err = t.draws(ctx, id, st.SQL, drawn)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func templateOf(sql string) *sqltext.Template {
	var sc sqltext.Scanner
	sc.Reset([]byte(sql))
	if !sc.Next() || sc.Statement().Bound != sqltext.WithinBounds {
		return nil
	}
	st := sc.Statement()
	return sqltext.NewTemplate(string(st.Text), slices.Clone(st.Slots))
}

// severity orders outcomes for the one that stands for several draws: a refutation counts whatever else was seen, then a confirmation.
var severity = []prove.Outcome{prove.Refuted, prove.Confirmed, prove.NotDiscriminated, prove.NotDeterministic, prove.Refused}

// draws proves the same template with several values; the outcome is that of the most telling draw.
func (t *trial) draws(ctx context.Context, id, text string, list []prove.Statement) error {
	best := prove.Result{Outcome: prove.Refused, Cause: "no values to run it with"}
	sql, said := text, map[prove.Outcome]int{}
	for i, st := range list {
		r, err := t.lab.Prove(ctx, st, t.planner.Explain(st.Question).Verdict)
		if err != nil {
			return err
		}
		said[r.Outcome]++
		if i == 0 || slices.Index(severity, r.Outcome) < slices.Index(severity, best.Outcome) {
			best, sql = r, st.SQL
		}
	}
	best.ID = id
	if n := said[best.Outcome]; n < len(list) && best.Detail == "" {
		best.Detail = fmt.Sprintf("with %d of %d values", n, len(list))
	}
	t.count(best)
	return t.write(best, sql)
}

func (t *trial) lines(ctx context.Context, in io.Reader, name string) error {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("read statements: %w", err)
		}
		defer f.Close()
		in = f
	}
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 1<<20), maxLine)
	for n := 1; sc.Scan(); n++ {
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		id, q, err := planner.ParseLine(sc.Bytes())
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if err := t.one(ctx, prove.Statement{ID: id, Question: q}); err != nil {
			return err
		}
	}
	return sc.Err()
}

func (t *trial) one(ctx context.Context, st prove.Statement) error {
	r, err := t.lab.Prove(ctx, st, t.planner.Explain(st.Question).Verdict)
	if err != nil {
		return err
	}
	t.count(r)
	return t.write(r, st.SQL)
}

func (t *trial) count(r prove.Result) {
	t.counts[r.Outcome]++
	if r.Outcome == prove.Refused {
		t.causes[r.Cause]++
	}
}

func (t *trial) write(r prove.Result, sql string) error {
	if t.format == "jsonl" {
		return json.NewEncoder(t.out).Encode(r)
	}
	if r.ID != "" {
		fmt.Fprintf(t.out, "%s: ", r.ID)
	}
	fmt.Fprintf(t.out, "%s %s", r.Class, r.Outcome)
	if r.Detail != "" {
		fmt.Fprintf(t.out, ": %s", r.Detail)
	}
	fmt.Fprintln(t.out)
	if r.Outcome == prove.Refuted {
		fmt.Fprintf(t.out, "  %s\n", reports.Printable(sql))
	}
	for _, line := range r.Diff {
		fmt.Fprintf(t.out, "  %s\n", reports.Printable(line))
	}
	return nil
}

func (t *trial) summary() string {
	var names []string
	for o := range t.counts {
		names = append(names, string(o))
	}
	sort.Strings(names)
	for i, o := range names {
		names[i] = fmt.Sprintf("%d %s", t.counts[prove.Outcome(o)], o)
	}
	return strings.Join(names, ", ")
}

// byCount lists the keys of a count, the highest first.
func byCount(counts map[string]int) []string {
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if counts[keys[i]] != counts[keys[j]] {
			return counts[keys[i]] > counts[keys[j]]
		}
		return keys[i] < keys[j]
	})
	return keys
}
