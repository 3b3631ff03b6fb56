package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/upkeep"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/cmd/foreshard/service"
	"github.com/foreshard/foreshard/reports"
)

func newWarehouseCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "warehouse status|check|compact|retain",
		Short: "Look at a warehouse, and keep it small",
		Long: `warehouse shows what a warehouse holds, reads all of it to find damage, merges its many small files into few, and drops days that nobody wants to
keep. All of it may be done at any time beside plan, run and reports, which do the merging by themselves every --compact-every.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWarehouseStatusCmd(), newWarehouseCheckCmd(), newWarehouseCompactCmd(), newWarehouseRetainCmd())
	return cmd
}

// existingWarehouse opens the warehouse that a verb looks at.
func existingWarehouse(ctx context.Context, dir string) (*warehouse.Warehouse, error) {
	if dir == "" {
		return nil, errors.New("no warehouse: give --warehouse DIR")
	}
	return analysis.OpenWarehouse(ctx, dir, false)
}

// outputFormat checks --format of a verb that prints text or JSON.
func outputFormat(format string) error {
	if format != "text" && format != "json" {
		return fmt.Errorf("--format %q is none of text, json", format)
	}
	return nil
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func newWarehouseStatusCmd() *cobra.Command {
	var dir, format string
	cmd := &cobra.Command{
		Use:   "status --warehouse DIR",
		Short: "Show tables, files, days, streams and how far they were read, and what compaction would gain",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := outputFormat(format); err != nil {
				return err
			}
			w, err := existingWarehouse(cmd.Context(), dir)
			if err != nil {
				return err
			}
			s, err := upkeep.StatusOf(cmd.Context(), w)
			if err != nil {
				return err
			}
			if format == "json" {
				return printJSON(cmd.OutOrStdout(), s)
			}
			return printStatus(cmd.OutOrStdout(), s)
		},
	}
	cmd.Flags().StringVar(&dir, "warehouse", "", "directory of the warehouse")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

func printStatus(out io.Writer, s *upkeep.Status) error {
	var b strings.Builder
	fmt.Fprintf(&b, "warehouse %s: %s executions", s.Place, reports.Count(s.Executions))
	if !s.From.IsZero() {
		fmt.Fprintf(&b, ", %s to %s", s.From.UTC().Format(time.DateTime), s.To.UTC().Format(time.DateTime))
	}
	b.WriteByte('\n')
	for _, t := range slices.Sorted(maps.Keys(s.Retired)) {
		fmt.Fprintf(&b, "retired: %s counted in rows of %s that retention dropped\n", reports.Count(s.Retired[t]), t)
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ntable\trows\tfiles\tcompacted\tsize\tdays")
	for _, t := range s.Tables {
		days := "-"
		if t.Days > 0 {
			days = fmt.Sprintf("%d: %s to %s", t.Days, t.First, t.Last)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, reports.Count(t.Rows), reports.Count(int64(t.Files)), reports.Count(int64(t.Compacted)), reports.Size(t.Bytes), days)
	}
	fmt.Fprintln(w, "\nstream\tlast commit\tsources\tlast source\toffset\texecutions")
	for _, st := range s.Streams {
		name := st.Name
		if name == "" {
			name = "(unnamed)"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\n", name, st.Commit, reports.Count(int64(st.Sources)), st.Newest, st.Offset, reports.Count(st.Executions))
	}
	inv := s.Inventory
	fmt.Fprintln(w, "\nin the directory\tfiles\tsize")
	for _, row := range []struct {
		name   string
		amount warehouse.Amount
	}{
		{"data", inv.Data}, {"states of streams", inv.States}, {"manifests", inv.Manifests}, {"checkpoints", inv.Checkpoints}, {"waiting to be deleted", inv.Waiting},
		{"of no commit, or not yet", inv.Orphans}, {"caches", inv.Derived},
	} {
		fmt.Fprintf(w, "%s\t%s\t%s\n", row.name, reports.Count(int64(row.amount.Files)), reports.Size(row.amount.Bytes))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nlast manifest %d; opening reads ", s.Head)
	if inv.Checkpoint >= 0 {
		fmt.Fprintf(&b, "checkpoint %d and ", inv.Checkpoint)
	}
	fmt.Fprintf(&b, "%s\n", plural(inv.Follows, "manifest"))
	_, err := io.WriteString(out, b.String())
	return err
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return reports.Count(int64(n)) + " " + noun + "s"
}

func newWarehouseCheckCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "check --warehouse DIR",
		Short: "Read every file, manifest and checkpoint and compare it with what was written",
		Long: `check reads every file that counts, the states of the streams, the manifests and the checkpoints, and compares each with what was written.
Exit code 1 says that something is damaged, and what.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := checkWarehouse(cmd.Context(), dir)
			if errors.Is(err, warehouse.ErrCorrupt) {
				return &exitError{exitNo, err}
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "warehouse", "", "directory of the warehouse")
	return cmd
}

func checkWarehouse(ctx context.Context, dir string) (string, error) {
	w, err := existingWarehouse(ctx, dir)
	if err != nil {
		return "", err
	}
	files := 0
	err = w.View(ctx, func(s *warehouse.Snapshot) error {
		files = 0
		for _, t := range warehouse.Tables() {
			files += len(s.Files(t.Name))
		}
		return s.Verify(ctx)
	})
	if err != nil {
		return "", err
	}
	manifests, checkpoints, err := w.VerifyChain(ctx)
	return fmt.Sprintf("%s, %s and %s are what was written", plural(files, "file"), plural(manifests, "manifest"), plural(checkpoints, "checkpoint")), err
}

func newWarehouseCompactCmd() *cobra.Command {
	var dir string
	var grace time.Duration
	cmd := &cobra.Command{
		Use:   "compact --warehouse DIR",
		Short: "Merge small files into few, and delete what is no longer needed",
		Long: `compact merges the small files of each table and day into one, in which rows that share all keys are one, and writes a checkpoint, from which the
next opening begins. Reports stay the same to the byte. Files that were merged, and what crashed runs left, are deleted by a later run, when they are older than
--grace: reports that began before may still be reading them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return maintain(cmd, dir, upkeep.Options{Now: time.Now, Grace: grace, Compact: true, Full: true})
		},
	}
	cmd.Flags().StringVar(&dir, "warehouse", "", "directory of the warehouse")
	registerGrace(cmd.Flags(), &grace)
	return cmd
}

func newWarehouseRetainCmd() *cobra.Command {
	var dir, retain, all string
	var grace time.Duration
	cmd := &cobra.Command{
		Use:   "retain --warehouse DIR --retain rollups=90d,key_slots=30d",
		Short: "Drop the days that are older than a table's age",
		Long: `retain drops whole days of the tables that have days. What the dropped rows counted is kept in the ledger, so that its sums still add up, and reports say
from when on they speak. Templates, what they do, the shapes of transactions, the ledger and how far sources were read stay.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := upkeep.ParseRetention(retain, all)
			if err == nil && r == nil {
				err = errors.New("nothing to drop: give --retain TABLE=AGE,… or --retain-all AGE")
			}
			if err != nil {
				return err
			}
			return maintain(cmd, dir, upkeep.Options{Now: time.Now, Grace: grace, Retain: r})
		},
	}
	cmd.Flags().StringVar(&dir, "warehouse", "", "directory of the warehouse")
	registerRetain(cmd.Flags(), &retain, &all)
	registerGrace(cmd.Flags(), &grace)
	return cmd
}

func registerGrace(flags *pflag.FlagSet, grace *time.Duration) {
	flags.DurationVar(grace, "grace", upkeep.DefaultGrace, "how long files stay after they stopped to count; longer than a report takes")
}

func registerRetain(flags *pflag.FlagSet, retain, all *string) {
	flags.StringVar(retain, "retain", "", "drop days older than this, by table: rollups=90d,key_slots=30d; tables that are not named are kept for ever")
	flags.StringVar(all, "retain-all", "", "drop days older than this of the tables that --retain does not name: 400d")
}

// maintain does upkeep once and says what was done.
func maintain(cmd *cobra.Command, dir string, o upkeep.Options) error {
	if o.Grace < 0 {
		return fmt.Errorf("--grace %s: give 0 or more", o.Grace)
	}
	w, err := existingWarehouse(cmd.Context(), dir)
	if err != nil {
		return err
	}
	r, err := upkeep.Run(cmd.Context(), w, o)
	text := r.String()
	if text == "" {
		text = "nothing to do"
	}
	_, perr := fmt.Fprintln(cmd.OutOrStdout(), text)
	return errors.Join(err, perr)
}

// upkeepFlags are the flags of the upkeep that long-running verbs do by themselves.
type upkeepFlags struct {
	every       time.Duration
	grace       time.Duration
	retain, all string
	retention   upkeep.Retention
}

func (f *upkeepFlags) register(flags *pflag.FlagSet) {
	flags.DurationVar(&f.every, "compact-every", 10*time.Minute, "how often to merge small files of the warehouse and delete what is no longer needed; one of several processes does it; 0: never")
	registerRetain(flags, &f.retain, &f.all)
	registerGrace(flags, &f.grace)
}

func (f *upkeepFlags) check() (err error) {
	switch {
	case f.every < 0 || f.grace < 0:
		return errors.New("--compact-every and --grace must not be negative")
	case f.every == 0 && f.retain+f.all != "":
		return errors.New("--retain needs --compact-every above 0: days are dropped then")
	}
	f.retention, err = upkeep.ParseRetention(f.retain, f.all)
	return err
}

// jobs is upkeep of the warehouse in a directory.
func (f *upkeepFlags) jobs(dir string, s *service.Service) []service.Job {
	if f.every == 0 {
		return nil
	}
	return []service.Job{{Name: "upkeep", Every: f.every, Run: func(ctx context.Context) error {
		w, err := existingWarehouse(ctx, dir)
		if errors.Is(err, warehouse.ErrAbsent) {
			return nil // nothing was read yet
		}
		if err != nil {
			return err
		}
		r, err := upkeep.Run(ctx, w, upkeep.Options{Now: time.Now, Grace: f.grace, Retain: f.retention, Compact: true, Lease: f.every})
		if text := r.String(); text != "" {
			s.Log.Info("upkeep: " + text)
		}
		return err
	}}}
}
