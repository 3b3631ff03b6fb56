package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/capture/pgcatalog"
	"github.com/foreshard/foreshard/capture/pgdoctor"
)

func newDoctorCmd() *cobra.Command {
	var dsn, format, schemaOut string
	cmd := &cobra.Command{
		Use:   "doctor --dsn DSN",
		Short: "Ask a server what of its traffic can be seen, and what to change",
		Long: `doctor connects to a PostgreSQL server (12 and later), reads its settings, and says what its log, pg_stat_statements and its WAL show of the
traffic, what hides the rest, the statements that change that, and what each costs. It changes nothing: its sessions are read-only.

A role that is a member of pg_monitor sees all that doctor asks for. Passwords are better in PGPASSWORD or the password file than in --dsn;
without --dsn the PG* variables say where to connect.

Exit codes: 0 the log shows traffic, all of it or part, 1 it does not, 2 the server could not be asked.`,
		Example: `  foreshard doctor --dsn "$DATABASE"
  foreshard doctor --dsn "$DATABASE" --format json
  foreshard doctor --dsn "$DATABASE" --schema-out schema.sql`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "json" {
				return fmt.Errorf("--format %q is none of text, json", format)
			}
			if dsn == "" && os.Getenv("PGHOST") == "" && os.Getenv("PGSERVICE") == "" {
				return errors.New("no server: give --dsn, or PGHOST and its sisters in the environment")
			}
			facts, err := pgdoctor.Read(cmd.Context(), dsn)
			if err != nil {
				return err
			}
			if schemaOut != "" {
				ddl, err := pgcatalog.Snapshot(cmd.Context(), dsn)
				if err != nil {
					return err
				}
				if err := replaceFile(schemaOut, ddl); err != nil {
					return fmt.Errorf("write schema: %w", err)
				}
			}
			report := pgdoctor.Diagnose(facts)
			if format == "json" {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				err = e.Encode(report)
			} else {
				err = report.Text(cmd.OutOrStdout())
			}
			if err != nil {
				return fmt.Errorf("write answer: %w", err)
			}
			if !report.Visible {
				return &exitError{code: exitNo}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dsn, "dsn", "", "connection string of the server")
	cmd.Flags().StringVar(&schemaOut, "schema-out", "", "also write the database's schema to this file, for --schema of the other verbs")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}
