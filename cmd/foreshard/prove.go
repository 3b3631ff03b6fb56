package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/analysis/prove"
	"github.com/foreshard/foreshard/planner"
)

type proveFlags struct {
	schema, candidate, server, data, source, input, format, warehouse string
	rows, generate, draws                                             int
	seed                                                              uint64
}

func newProveCmd() *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove --schema SCHEMA.sql --candidate CANDIDATE.yaml --server DSN (--data FILE | --from DSN) [--input FILE|DIR | --warehouse DIR | --generate N | SQL]",
		Short: "Execute verdicts on a real PostgreSQL and compare",
		Long: `prove builds the candidate's shards as databases of one scratch PostgreSQL: the whole data in one, each shard's rows (by PostgreSQL's own
hash) and the reference tables in others. It runs every statement on the whole and where its verdict says, and compares results, the rows that
a write leaves, and where they lie. Everything is rolled back. The database given with --from is only read.

  confirmed          same answer, and a wrong verdict would have given another one
  refuted            another answer: the verdict is wrong; the difference is shown
  not_discriminated  same answer, but the data would also have hidden a wrong verdict
  not_deterministic  the whole database answers differently itself when its rows lie in another order
  refused            the verdict claims nothing that can be run, or the statement fails on the whole data; the causes are counted at the end

With --warehouse the templates of the traffic are proved. They hold no values: each is run --draws times with values of the columns that its
slots are compared with, and its outcome is the worst of them. Query files (--input with a .sql file or a folder) with parameters likewise.

Exit code 1 if a verdict was refuted.`,
		Example: `  foreshard prove --schema schema.sql --candidate by-org.yaml --server "$SCRATCH" --data data.sql "SELECT * FROM orders WHERE org_id = 7"
  foreshard prove --schema schema.sql --candidate by-org.yaml --server "$SCRATCH" --from "$STAGING" --rows 2000 --input statements.jsonl
  foreshard prove --schema schema.sql --candidate by-org.yaml --server "$SCRATCH" --data data.sql --generate 10000 --seed 7
  foreshard prove --schema schema.sql --candidate by-org.yaml --server "$SCRATCH" --from "$STAGING" --warehouse traffic --draws 5`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runProve(cmd, f, args) },
	}
	cmd.Flags().StringVar(&f.schema, "schema", "", "schema of the database: pg_dump --schema-only, or plain DDL")
	cmd.Flags().StringVar(&f.candidate, "candidate", "", "candidate sharding schema")
	cmd.Flags().StringVar(&f.server, "server", "", "connection string of a scratch PostgreSQL where databases may be created")
	cmd.Flags().StringVar(&f.data, "data", "", "data to load: SQL, with COPY blocks as pg_dump writes them")
	cmd.Flags().StringVar(&f.source, "from", "", "connection string of a database to copy a sample from; it is only read")
	cmd.Flags().IntVar(&f.rows, "rows", 2000, "rows per table to copy with --from, about")
	cmd.Flags().StringVar(&f.input, "input", "", `statements as explain reads them: JSON lines, a .sql file or a folder of them; "-" is standard input`)
	cmd.Flags().StringVar(&f.warehouse, "warehouse", "", "prove the templates of the traffic kept there")
	cmd.Flags().IntVar(&f.draws, "draws", 4, "times that a statement without values is run, each with others")
	cmd.Flags().IntVar(&f.generate, "generate", 0, "prove this many generated statements")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the generated statements, and of the values that are drawn")
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
	if f.warehouse != "" {
		given++
	}
	if given != 1 {
		return errors.New("prove: give statements as SQL, with --input FILE, with --warehouse DIR or with --generate N")
	}
	if f.draws < 1 {
		return fmt.Errorf("prove: --draws %d: give 1 or more", f.draws)
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
	t := &trial{lab: lab, planner: planner.New(cat, cand), out: bufio.NewWriter(cmd.OutOrStdout()), format: f.format,
		counts: map[prove.Outcome]int{}, causes: map[string]int{}}
	err = t.all(cmd, f, args)
	return errors.Join(err, lab.Close(context.WithoutCancel(cmd.Context())))
}
