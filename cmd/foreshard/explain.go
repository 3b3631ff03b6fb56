package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/planner"
	"github.com/foreshard/foreshard/planner/fix"
	"github.com/foreshard/foreshard/reports"
)

// maxLine is the longest line of input that explain reads.
const maxLine = 64 << 20

func newExplainCmd() *cobra.Command {
	var schema, cand, format, input string
	var fixes bool
	cmd := &cobra.Command{
		Use:   "explain --schema SCHEMA.sql --candidate CANDIDATE.yaml [--input FILE|DIR] [SQL]",
		Short: "Tell where a statement would run, and why",
		Long: `explain judges one statement, or many, under a candidate sharding schema.

The class holds for the statement as written, whatever its parameters are; the values given for parameters tell the shards. The symbolic
class holds for all values of its literals, too. Several statements in one text are judged as one transaction.

A statement that is not ready comes with up to three fixes: single changes of the statement or of the candidate that were tried and judged.

--input takes query files as they lie in a repository, too: a .sql file or a folder with .sql files in it. Each of their statements is judged
by itself and named by "-- name: X" before it or by its place; SET search_path in a file holds from there on; parameters that are written
by name (@id, :id, %(id)s, sqlc.arg(id)) count as $1, $2, ...

Other input lines are {"id","sql","params"?:[["type","value"|null]],"setup"?}; setup is what the session ran before: SET search_path = ...`,
		Example: `  foreshard explain --schema schema.sql --candidate by-org.yaml "SELECT * FROM orders WHERE org_id = 7"
  echo 'SELECT count(*) FROM orders' | foreshard explain --schema schema.sql --candidate by-org.yaml
  foreshard explain --schema schema.sql --candidate by-org.yaml --format jsonl --input statements.jsonl
  foreshard explain --schema schema.sql --candidate by-org.yaml --format jsonl --input internal/queries/`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if schema == "" || cand == "" {
				return errors.New("explain: --schema and --candidate are needed")
			}
			if len(args) == 1 && input != "" {
				return errors.New("explain: give SQL or --input, not both")
			}
			cat, err := loadCatalog(schema)
			if err != nil {
				return err
			}
			c, err := loadCandidate(cand, cat)
			if err != nil {
				return err
			}
			p := planner.New(cat, c)
			explain := p.Explain
			if fixes {
				explain = func(q planner.Question) planner.Answer {
					a := p.Explain(q)
					a.Fixes = fix.Explain(p, q, a)
					return a
				}
			}
			switch {
			case len(args) == 1:
				return explainOne(cmd.OutOrStdout(), explain, args[0], format)
			case input == "":
				sql, err := io.ReadAll(cmd.InOrStdin())
				if err != nil {
					return fmt.Errorf("read standard input: %w", err)
				}
				return explainOne(cmd.OutOrStdout(), explain, string(sql), format)
			case input == "-":
				return explainLines(cmd.OutOrStdout(), explain, cmd.InOrStdin(), "standard input", format)
			}
			if isSQL(input) {
				return explainFiles(cmd.OutOrStdout(), explain, input, format)
			}
			f, err := os.Open(input)
			if err != nil {
				return fmt.Errorf("read statements: %w", err)
			}
			defer f.Close()
			return explainLines(cmd.OutOrStdout(), explain, f, input, format)
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "schema of the database: pg_dump --schema-only, or plain DDL")
	cmd.Flags().StringVar(&cand, "candidate", "", "candidate sharding schema")
	cmd.Flags().StringVar(&format, "format", "text", "text, json or jsonl")
	cmd.Flags().StringVar(&input, "input", "", `a .sql file, a folder of them, or statements as one JSON object a line; "-" is standard input with such lines`)
	cmd.Flags().BoolVar(&fixes, "fixes", true, "look for changes that would help statements that are not ready")
	return cmd
}

// explainer answers a question.
type explainer func(planner.Question) planner.Answer

func explainOne(out io.Writer, explain explainer, sql, format string) error {
	if strings.TrimSpace(sql) == "" {
		return errors.New(`explain: no statement; give one as an argument, on standard input, or many with --input`)
	}
	w, err := newAnswers(out, format)
	if err != nil {
		return err
	}
	if err := w.put("", sql, explain(planner.Question{SQL: sql})); err != nil {
		return err
	}
	return w.close()
}

// explainLines answers each line as it comes. A line that is no statement ends the run, with its number.
func explainLines(out io.Writer, explain explainer, in io.Reader, name, format string) error {
	w, err := newAnswers(out, format)
	if err != nil {
		return err
	}
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 1<<20), maxLine)
	n := 0
	for ; sc.Scan(); n++ {
		if len(strings.TrimSpace(sc.Text())) == 0 {
			continue
		}
		id, q, err := planner.ParseLine(sc.Bytes())
		if err != nil {
			return errors.Join(w.flush(), fmt.Errorf("%s:%d: %w", name, n+1, err))
		}
		if err := w.put(id, q.SQL, explain(q)); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		return errors.Join(w.flush(), fmt.Errorf("%s:%d: read statements: %w", name, n+1, err))
	}
	if w.n == 0 {
		return fmt.Errorf("%s: no statement", name)
	}
	return w.close()
}

// answers writes verdicts in one format.
type answers struct {
	out    *bufio.Writer
	format string
	n      int
	file   string // place of the statement, where it has one
	line   int
}

func newAnswers(out io.Writer, format string) (*answers, error) {
	switch format {
	case "text", "json", "jsonl":
		return &answers{out: bufio.NewWriter(out), format: format}, nil
	}
	return nil, fmt.Errorf("explain: --format is text, json or jsonl, not %q", format)
}

func (w *answers) put(id, sql string, a planner.Answer) error {
	w.n++
	if w.format == "text" {
		if w.n > 1 {
			w.out.WriteString("\n")
		}
		_, err := w.out.WriteString(reports.Visible(a.Text(id, sql)))
		return err
	}
	data, err := a.JSON(id)
	if err == nil && w.file != "" {
		data, err = placed(data, w.file, w.line)
	}
	if err != nil {
		return err
	}
	if w.format == "json" {
		if w.n == 1 {
			w.out.WriteString("[\n")
		} else {
			w.out.WriteString(",\n")
		}
		_, err = w.out.Write(data)
		return err
	}
	w.out.Write(data)
	_, err = w.out.WriteString("\n")
	return err
}

func (w *answers) close() error {
	if w.format == "json" {
		w.out.WriteString("\n]\n")
	}
	return w.flush()
}

func (w *answers) flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	return nil
}
