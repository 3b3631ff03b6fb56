package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis/prove"
	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/reports"
)

type proveFlags struct {
	schema, candidate, server, data, source, input, format string
	rows, generate                                         int
	seed                                                   uint64
}

func newProveCmd() *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove --schema SCHEMA.sql --candidate CANDIDATE.yaml --server DSN (--data FILE | --from DSN) [--input FILE | --generate N | SQL]",
		Short: "Execute verdicts on a real PostgreSQL and compare",
		Long: `prove builds the candidate's shards as databases of one scratch PostgreSQL: the whole data in one, each shard's rows (by PostgreSQL's own
hash) and the reference tables in others. It runs every statement on the whole and where its verdict says, and compares results, the rows that
a write leaves, and where they lie. Everything is rolled back. The database given with --from is only read.

  confirmed          same answer, and a wrong verdict would have given another one
  refuted            another answer: the verdict is wrong; the difference is shown
  not_discriminated  same answer, but the data would also have hidden a wrong verdict
  not_deterministic  the whole database answers differently itself when its rows lie in another order
  refused            the verdict claims nothing that can be run, or the statement fails on the whole data

Exit code 1 if a verdict was refuted.`,
		Example: `  foreshard prove --schema schema.sql --candidate by-org.yaml --server "$SCRATCH" --data data.sql "SELECT * FROM orders WHERE org_id = 7"
  foreshard prove --schema schema.sql --candidate by-org.yaml --server "$SCRATCH" --from "$STAGING" --rows 2000 --input statements.jsonl
  foreshard prove --schema schema.sql --candidate by-org.yaml --server "$SCRATCH" --data data.sql --generate 10000 --seed 7`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runProve(cmd, f, args) },
	}
	cmd.Flags().StringVar(&f.schema, "schema", "", "schema of the database: pg_dump --schema-only, or plain DDL")
	cmd.Flags().StringVar(&f.candidate, "candidate", "", "candidate sharding schema")
	cmd.Flags().StringVar(&f.server, "server", "", "connection string of a scratch PostgreSQL where databases may be created")
	cmd.Flags().StringVar(&f.data, "data", "", "data to load: SQL, with COPY blocks as pg_dump writes them")
	cmd.Flags().StringVar(&f.source, "from", "", "connection string of a database to copy a sample from; it is only read")
	cmd.Flags().IntVar(&f.rows, "rows", 2000, "rows per table to copy with --from, about")
	cmd.Flags().StringVar(&f.input, "input", "", `statements, one JSON object a line as explain reads them; "-" is standard input`)
	cmd.Flags().IntVar(&f.generate, "generate", 0, "prove this many generated statements")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the generated statements")
	cmd.Flags().StringVar(&f.format, "format", "text", "text or jsonl")
	return cmd
}

func runProve(cmd *cobra.Command, f proveFlags, args []string) error {
	if f.format != "text" && f.format != "jsonl" {
		return fmt.Errorf("prove: --format is text or jsonl, not %q", f.format)
	}
	if f.server == "" {
		return errors.New("prove: --server is needed: a scratch PostgreSQL where databases may be created")
	}
	if (f.data == "") == (f.source == "") {
		return errors.New("prove: give data with --data FILE or --from DSN")
	}
	given := len(args)
	if f.input != "" {
		given++
	}
	if f.generate > 0 {
		given++
	}
	if given != 1 {
		return errors.New("prove: give statements as SQL, with --input FILE or with --generate N")
	}
	cat, err := loadCatalog(f.schema)
	if err != nil {
		return err
	}
	cand, err := loadCandidate(f.candidate, cat)
	if err != nil {
		return err
	}
	ddl, err := os.ReadFile(f.schema)
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	cfg := prove.Config{Server: f.server, Schema: prove.Executable(string(ddl)), Catalog: cat, Candidate: cand}
	if f.data != "" {
		data, err := os.Open(f.data)
		if err != nil {
			return fmt.Errorf("read data: %w", err)
		}
		defer data.Close()
		cfg.Load = prove.LoadSQL(f.data, data)
	} else {
		cfg.Load = prove.CopySample(f.source, f.rows, cat, cand)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "foreshard: building the laboratory")
	lab, err := prove.Build(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	t := &trial{lab: lab, planner: planner.New(cat, cand), out: bufio.NewWriter(cmd.OutOrStdout()), format: f.format, counts: map[prove.Outcome]int{}}
	err = t.all(cmd, f, args)
	return errors.Join(err, lab.Close(context.WithoutCancel(cmd.Context())))
}

// trial proves statement after statement and keeps count.
type trial struct {
	lab     *prove.Lab
	planner *planner.Planner
	out     *bufio.Writer
	format  string
	counts  map[prove.Outcome]int
}

func (t *trial) all(cmd *cobra.Command, f proveFlags, args []string) error {
	ctx := cmd.Context()
	var err error
	switch {
	case len(args) == 1:
		err = t.one(ctx, prove.Statement{Question: planner.Question{SQL: args[0]}})
	case f.generate > 0:
		err = t.generated(ctx, f)
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
	t.counts[r.Outcome]++
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
		fmt.Fprintf(t.out, "  %s\n", reports.Printable(st.SQL))
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
