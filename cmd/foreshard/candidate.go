package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
)

func newCandidateCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "candidate", Short: "Work with candidate sharding schemas", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newCandidateCheckCmd())
	return cmd
}

func newCandidateCheckCmd() *cobra.Command {
	var schema string
	cmd := &cobra.Command{
		Use:   "check --schema SCHEMA.sql CANDIDATE.yaml...",
		Short: "Check candidates against the schema",
		Long: `check reads candidates as every other verb does and says what each places where. Mistakes are printed with file, line and the fix, and
end with exit code 2; warnings do not.`,
		Example: `  foreshard candidate check --schema schema.sql by-org.yaml
  foreshard candidate check --schema schema.sql candidates/*.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkCandidates(cmd.OutOrStdout(), cmd.ErrOrStderr(), schema, args)
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "schema of the database: pg_dump --schema-only, or plain DDL")
	return cmd
}

// checkCandidates checks all files before it fails.
func checkCandidates(out, errOut io.Writer, schema string, files []string) error {
	cat, err := loadCatalog(schema)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range files {
		c, err := loadCandidate(name, cat)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(errOut, "foreshard: %s\n", w)
		}
		if _, err := fmt.Fprintf(out, "%s\n", candidateSummary(name, c, cat)); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
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

// candidateSummary says where the tables of the schema are under the candidate; those it does not name are listed, because what touches them is
// unknown.
func candidateSummary(name string, c *candidate.Candidate, cat *catalog.Catalog) string {
	counts := map[candidate.Placement]int{}
	var undecided []string
	for key, r := range cat.Relations {
		if r.Kind != catalog.Table && r.Kind != catalog.PartitionedTable || r.Partition {
			continue
		}
		p := c.Table(key).Placement
		counts[p]++
		if p == candidate.Undecided {
			undecided = append(undecided, key)
		}
	}
	colos := make([]string, len(c.Colos))
	for i, colo := range c.Colos {
		colos[i] = fmt.Sprintf("%s by %s %s over %d shards", colo.Name, colo.KeyName, colo.KeyType, colo.Shards)
	}
	s := fmt.Sprintf("%s: candidate %q is valid: %d tables sharded (%s), %d reference, %d unsharded", name, c.Name,
		counts[candidate.Sharded], strings.Join(colos, ", "), counts[candidate.Reference], counts[candidate.Unsharded])
	if len(undecided) > 0 {
		slices.Sort(undecided)
		s += fmt.Sprintf(", %d undecided: %s", len(undecided), strings.Join(undecided, ", "))
	}
	return s
}
