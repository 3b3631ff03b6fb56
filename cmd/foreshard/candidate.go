package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/impact"
)

func newCandidateCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "candidate", Short: "Work with candidate sharding schemas", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newCandidateCheckCmd())
	return cmd
}

// checkOptions are the flags of candidate check.
type checkOptions struct {
	schema     string
	candidates []string
	format     string
	strict     bool
}

func newCandidateCheckCmd() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check --schema SCHEMA.sql --candidate CANDIDATE.yaml...",
		Short: "Check candidates against the schema, and what of it they would break",
		Long: `check reads candidates as every other verb does, says what each places where, and lists what of the schema it would break or
weaken: keys, constraints, sequences, triggers, policies, views and functions, each with its repair. No traffic is needed.

Mistakes of a candidate are printed with file, line and the fix, and end with exit code 2. Warnings and findings are information; with --strict
a finding that breaks ends with exit code 1.`,
		Example: `  foreshard candidate check --schema schema.sql --candidate by-org.yaml
  foreshard candidate check --schema schema.sql --strict candidates/*.yaml
  foreshard candidate check --schema schema.sql --candidate by-org.yaml --format markdown`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.candidates = append(o.candidates, args...)
			return checkCandidates(cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.schema, "schema", "", "schema of the database: pg_dump --schema-only, or plain DDL")
	f.StringArrayVar(&o.candidates, "candidate", nil, "a candidate; repeat it, or name files as arguments")
	f.StringVar(&o.format, "format", "text", "text, json or markdown")
	f.BoolVar(&o.strict, "strict", false, "end with exit code 1 if something of the schema breaks")
	return cmd
}

// checkCandidates checks all files before it fails. What is wrong with a candidate goes to errOut, and into the result where the format has
// room for it.
func checkCandidates(out, errOut io.Writer, o checkOptions) error {
	write, ok := checkFormats[o.format]
	if !ok {
		return fmt.Errorf("--format %q is none of text, json, markdown", o.format)
	}
	if len(o.candidates) == 0 {
		return errors.New("no candidate: give --candidate with a YAML file")
	}
	cat, err := loadCatalog(o.schema)
	if err != nil {
		return err
	}
	var errs []error
	breaks := 0
	checked := make([]checkedCandidate, 0, len(o.candidates))
	for _, name := range o.candidates {
		c, err := loadCandidate(name, cat)
		if err != nil {
			errs = append(errs, err)
			checked = append(checked, checkedCandidate{File: name, Errors: messages(err), Warnings: []string{}, Findings: []impact.Finding{}, Counts: impact.Count(nil)})
			continue
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(errOut, "foreshard: warning: %s\n", w)
		}
		one := checkedOf(name, c, cat)
		breaks += one.Counts[impact.Breaks]
		checked = append(checked, one)
	}
	if err := write(out, checked); err != nil {
		return err
	}
	switch {
	case len(errs) > 0:
		return errors.Join(errs...)
	case o.strict && breaks > 0:
		return &exitError{code: exitNo, err: fmt.Errorf("--strict: %s would break", count(breaks, "object of the schema", "objects of the schema"))}
	}
	return nil
}

// messages are the single errors of a joined one.
func messages(err error) []string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range joined.Unwrap() {
		out = append(out, e.Error())
	}
	return out
}

// loadCatalog reads the schema file.
func loadCatalog(schema string) (*catalog.Catalog, error) {
	if schema == "" {
		return nil, errors.New(`no schema: give --schema with the output of pg_dump --schema-only`)
	}
	ddl, err := os.ReadFile(schema)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return catalog.Load(schema, ddl)
}

// loadCandidate reads one candidate file.
func loadCandidate(name string, cat *catalog.Catalog) (*candidate.Candidate, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read candidate: %w", err)
	}
	return candidate.Load(name, text, cat)
}
