package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/capture/pglog"
	"github.com/foreshard/foreshard/capture/sqlfile"
	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

// analyzeFlags are the flags of analyze as given.
type analyzeFlags struct {
	schema        string
	schemaFrom    string
	candidates    []string
	warehouse     string
	format        string
	outputs       []string
	prefix        string
	inputFormat   string
	color         string
	workers       int
	quiet, follow bool
}

func newAnalyzeCmd() *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:   "analyze --schema SCHEMA.sql --candidate CANDIDATE.yaml [flags] [FILE...]",
		Short: "Read server logs and report how ready the traffic is for a candidate",
		Long: `analyze reads PostgreSQL server logs (stderr, csvlog, jsonlog) or .sql files and folders of them, gzip and zstd by content, "-" for standard input, and
reports under each candidate what share of the traffic stays on one shard, what does not, why, and what to do.

With --warehouse the traffic is kept there: files read before are not read again, growing ones from where they were left, and without
any FILE the kept history is judged. Without it a temporary one is made and removed.

The report goes to standard output, files named by --output are replaced as a whole, everything else goes to standard error.
Exit codes: 0 done, 2 could not run, 3 no execution of a statement was found.`,
		Example: `  foreshard analyze --schema schema.sql --candidate by-org.yaml postgresql.log
  zcat archive/*.csv.gz | foreshard analyze --schema schema.sql --candidate by-org.yaml --input-format csvlog -
  foreshard analyze --schema schema.sql --candidate by-org.yaml --candidate by-user.yaml --warehouse traffic --output html=report.html postgresql.log
  foreshard analyze --schema schema.sql --candidate new-idea.yaml --warehouse traffic`,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := analyze(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), f, args)
			if errors.Is(err, analysis.ErrNoEvidence) || errors.Is(err, pglog.ErrNothing) {
				return &exitError{exitThin, fmt.Errorf("%w\n\n%s", err, analysis.Advice)}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.schema, "schema", "", "schema of the database: pg_dump --schema-only, or plain DDL")
	flags.StringVar(&f.schemaFrom, "schema-from", "", schemaFromUsage)
	flags.StringArrayVar(&f.candidates, "candidate", nil, "candidate sharding schema (YAML); give several to compare them")
	flags.StringVar(&f.warehouse, "warehouse", "", "directory that keeps the traffic; made if it is not there")
	flags.StringVar(&f.format, "format", "text", "what standard output gets: text, json, markdown, html")
	flags.StringArrayVar(&f.outputs, "output", nil, "also write a file, as FORMAT=PATH; may be given several times")
	flags.StringVar(&f.prefix, "log-line-prefix", "", "log_line_prefix of stderr logs; found out if not given")
	flags.StringVar(&f.inputFormat, "input-format", "auto", "what the files are: auto, "+formatNames())
	flags.BoolVar(&f.follow, "still-written", false, "the files are still being written: leave an unfinished end to the next run (with --warehouse)")
	flags.IntVar(&f.workers, "workers", 0, "threads that read and judge; 0 means one per CPU. The result is the same for any number")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress and no notes on standard error")
	flags.StringVar(&f.color, "color", "auto", "colour in text: auto, always, never")
	return cmd
}

// heapLimit is where Go's memory begins to be collected eagerly, in bytes: with the database engine and the program itself that stays below
// 300 MB for a gigabyte of log and for a report on 20,000 templates. GOMEMLIMIT in the environment goes before it.
const heapLimit = 160 << 20

// analyze runs the verb: everything that can be refused is refused before a byte of traffic is read.
func analyze(ctx context.Context, in io.Reader, out, errOut io.Writer, f analyzeFlags, files []string) (err error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
	targets, err := reportTargets(f.format, f.outputs)
	if err != nil {
		return err
	}
	options, err := reportOptions(out, f.color)
	if err != nil {
		return err
	}
	cat, candidates, err := loadSchema(ctx, f.schema, f.schemaFrom, f.candidates)
	if err != nil {
		return err
	}
	note := func(text string) {
		if !f.quiet {
			fmt.Fprintf(errOut, "foreshard: %s\n", text)
		}
	}
	for _, c := range candidates {
		for _, warning := range c.Warnings {
			note(warning)
		}
	}
	format, err := inputFormat(f.inputFormat)
	if err != nil {
		return err
	}
	inputs, total, err := openInputs(files, in)
	if err != nil {
		return err
	}
	if err := checkHistory(f, inputs); err != nil {
		return err
	}
	w, cleanup, err := openWarehouse(ctx, f.warehouse, len(inputs) > 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanup()) }()

	nothing, err := ingest(ctx, w, inputs, total, cat, f, format, errOut)
	if err != nil {
		return err
	}
	report, err := analysis.BuildReport(ctx, w, cat, candidates, analysis.ReportOptions{
		Workers: f.workers, PlannerVersion: plannerVersion(), Note: note,
	})
	if errors.Is(err, analysis.ErrNoEvidence) && nothing != nil {
		return nothing // says what was read
	}
	if err != nil {
		return err
	}
	if nothing != nil {
		note(nothing.Error() + "; the report is of what was kept before")
	}
	if err := writeReports(out, report, targets, options); err != nil {
		return err
	}
	if report.Basis == analysis.BasisWAL { // nothing was judged, which must not look like success
		return fmt.Errorf("the report is of what the WAL wrote alone: %w", analysis.ErrNoEvidence)
	}
	return nil
}

// ingest reads the inputs into the warehouse. nothing says that there was no statement in them, which is an end only if the warehouse has none
// either.
func ingest(ctx context.Context, w *warehouse.Warehouse, inputs []pglog.Input, total int64, cat *catalog.Catalog, f analyzeFlags, format pglog.Format,
	errOut io.Writer) (nothing, err error) {
	if len(inputs) == 0 {
		return nil, nil
	}
	if total == 0 {
		return fmt.Errorf("read logs: every file is empty: %w", pglog.ErrNothing), nil
	}
	bar := newProgress(errOut, total, f.quiet)
	_, err = analysis.Ingest(ctx, w, inputs, cat, analysis.IngestOptions{
		Logs:       pglog.Config{Prefix: f.prefix, Format: format, Workers: f.workers, Hold: f.follow, Now: time.Now},
		SchemaName: schemaName(f.schema, f.schemaFrom), Workers: f.workers,
	}, bar.show)
	bar.done()
	if errors.Is(err, pglog.ErrNothing) {
		return err, nil
	}
	return nil, err
}

// loadSchema reads the schema and the candidates bound to it.
func loadSchema(ctx context.Context, schema, from string, names []string) (*catalog.Catalog, []*candidate.Candidate, error) {
	cat, err := catalogFrom(ctx, schema, from)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		return nil, nil, errors.New(`no candidate: give --candidate with a sharding schema (YAML)`)
	}
	var out []*candidate.Candidate
	seen := map[string]string{}
	for _, name := range names {
		c, err := loadCandidate(name, cat)
		if err != nil {
			return nil, nil, err
		}
		if other, ok := seen[c.Name]; ok {
			return nil, nil, fmt.Errorf("read candidate: %q and %q are both named %q: change name: in one of them", other, name, c.Name)
		}
		seen[c.Name] = name
		out = append(out, c)
	}
	return cat, out, nil
}

// checkHistory refuses to judge nothing, and flags that mean nothing together.
func checkHistory(f analyzeFlags, inputs []pglog.Input) error {
	if len(inputs) == 0 && f.warehouse == "" {
		return errors.New(`nothing to read: name log files, "-" for standard input, or --warehouse for traffic that was kept`)
	}
	if f.follow && f.warehouse == "" {
		return errors.New("--still-written leaves the end of the files to a next run, and without --warehouse there is none")
	}
	if f.workers < 0 {
		return fmt.Errorf("--workers %d: give 0 (one per CPU) or more", f.workers)
	}
	return nil
}

// openWarehouse opens the named warehouse, or a temporary one that cleanup removes.
func openWarehouse(ctx context.Context, dir string, create bool) (*warehouse.Warehouse, func() error, error) {
	cleanup := func() error { return nil }
	if dir == "" {
		temp, err := os.MkdirTemp("", "foreshard-")
		if err != nil {
			return nil, nil, fmt.Errorf("make temporary warehouse: %w", err)
		}
		dir, cleanup = temp, func() error { return os.RemoveAll(temp) }
	}
	if !create {
		if _, err := os.Stat(dir); err != nil {
			return nil, nil, fmt.Errorf("open warehouse: %w: name log files to fill it", err)
		}
	}
	w, err := analysis.OpenWarehouse(ctx, dir, create)
	if err != nil {
		return nil, nil, errors.Join(err, cleanup())
	}
	return w, cleanup, nil
}

// inputFormat reads a name of --input-format.
func inputFormat(name string) (pglog.Format, error) {
	switch name {
	case "auto":
		return pglog.Auto, nil
	case "csvlog":
		return pglog.CSV, nil
	case "jsonlog":
		return pglog.JSON, nil
	}
	if f := pglog.Format(name); slices.Contains(pglog.Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("--input-format %q is none of auto, %s", name, formatNames())
}

// formatNames are the names of --input-format beside auto: PostgreSQL's own, then those of what is around its records.
func formatNames() string {
	var names []string
	for _, f := range pglog.Formats() {
		switch f {
		case pglog.CSV:
			names = append(names, "csvlog")
		case pglog.JSON:
			names = append(names, "jsonlog")
		default:
			names = append(names, string(f))
		}
	}
	return strings.Join(names, ", ")
}

// openInputs checks that every file can be read before the first one is; total is the bytes to read, -1 if that cannot be told.
func openInputs(files []string, in io.Reader) (inputs []pglog.Input, total int64, err error) {
	files, err = withFolders(files)
	if err != nil {
		return nil, 0, err
	}
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			return nil, 0, fmt.Errorf("read logs: %q is named twice", name)
		}
		if name == "-" {
			inputs, total = append(inputs, pglog.Input{Name: "-", Reader: in}), -1
			continue
		}
		size, plain, err := checkFile(name)
		if err != nil {
			return nil, 0, fmt.Errorf("read logs: %w", err)
		}
		inputs = append(inputs, pglog.Input{Name: name, Path: name})
		if total >= 0 && plain {
			total += size
		} else {
			total = -1
		}
	}
	return inputs, total, nil
}

// withFolders puts the .sql files of a folder in its place.
func withFolders(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
			files = append(files, name)
			continue
		}
		list, err := sqlfile.Files(name)
		if err != nil {
			return nil, err
		}
		files = append(files, list...)
	}
	return files, nil
}

// checkFile opens a file to see that it can be read. plain says that its size is that of the log: a regular file that is not compressed.
func checkFile(name string) (size int64, plain bool, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, false, err
	}
	if info.IsDir() {
		return 0, false, fmt.Errorf("%q is a directory: name the files in it", name)
	}
	if !info.Mode().IsRegular() {
		return 0, false, nil // opening a pipe twice would lose what is in it
	}
	file, err := os.Open(name)
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, false, err
	}
	compressed := strings.HasPrefix(string(head[:n]), "\x1f\x8b") || string(head[:n]) == "\x28\xb5\x2f\xfd"
	return info.Size(), !compressed, nil
}

// plannerVersion names the planner that verdicts are cached under: the commit of the build, or the hash of the module that was installed. A
// build of neither, or of a changed checkout, caches nothing, because two of them would share a name.
func plannerVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	revision := info.Main.Sum
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.modified" && s.Value == "true":
			return ""
		case s.Key == "vcs.revision":
			revision = s.Value
		}
	}
	return revision
}
