package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/foreshard/foreshard/planner/candidate"
	"github.com/foreshard/foreshard/planner/catalog"
	"github.com/foreshard/foreshard/planner/impact"
)

// checkedCandidate is the answer of candidate check about one file.
type checkedCandidate struct {
	File      string                  `json:"file"`
	Name      string                  `json:"name"`
	Valid     bool                    `json:"valid"`
	Errors    []string                `json:"errors"`
	Warnings  []string                `json:"warnings"`
	Colos     []checkedColo           `json:"colos"`
	Tables    map[string]int          `json:"tables"` // by placement, partitions with their table
	Undecided []string                `json:"undecided"`
	Counts    map[impact.Severity]int `json:"counts"`
	Findings  []impact.Finding        `json:"findings"`
}

type checkedColo struct {
	Name    string `json:"name"`
	Key     string `json:"key"`
	KeyType string `json:"key_type"`
	Shards  int    `json:"shards"`
	Tables  int    `json:"tables"`
}

// checkFormats are the formats of candidate check. Never changed after start.
var checkFormats = map[string]func(io.Writer, []checkedCandidate) error{"text": checkText, "json": checkJSON, "markdown": checkMarkdown}

func checkedOf(file string, c *candidate.Candidate, cat *catalog.Catalog) checkedCandidate {
	out := checkedCandidate{File: file, Name: c.Name, Valid: true, Errors: []string{}, Warnings: append([]string{}, c.Warnings...), Colos: []checkedColo{},
		Tables: map[string]int{"sharded": 0, "reference": 0, "unsharded": 0, "undecided": 0}, Undecided: append([]string{}, c.Undecided(cat)...), Findings: impact.Check(cat, c)}
	out.Counts = impact.Count(out.Findings)
	in := map[*candidate.Colo]int{}
	for _, r := range cat.Relations {
		if r.Kind != catalog.Table && r.Kind != catalog.PartitionedTable || r.Partition || r.Temp {
			continue
		}
		t := c.Table(r.Key())
		out.Tables[t.Placement.String()]++
		in[t.Colo]++
	}
	for _, colo := range c.Colos {
		out.Colos = append(out.Colos, checkedColo{colo.Name, colo.KeyName, colo.KeyType, colo.Shards, in[colo]})
	}
	return out
}

func checkJSON(out io.Writer, all []checkedCandidate) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]any{"schema_version": 1, "candidates": all})
}

func (c *checkedCandidate) summary() string {
	colos := make([]string, len(c.Colos))
	for i, colo := range c.Colos {
		colos[i] = fmt.Sprintf("%s by %s %s over %d shards", colo.Name, colo.Key, colo.KeyType, colo.Shards)
	}
	in := ""
	if len(colos) > 0 {
		in = " (" + strings.Join(colos, ", ") + ")"
	}
	s := fmt.Sprintf("%s: candidate %q is valid: %d tables sharded%s, %d reference, %d unsharded", c.File, c.Name, c.Tables["sharded"], in, c.Tables["reference"], c.Tables["unsharded"])
	if len(c.Undecided) > 0 {
		s += fmt.Sprintf(", %d undecided: %s", len(c.Undecided), strings.Join(c.Undecided, ", "))
	}
	return s
}

func (c *checkedCandidate) counts() string {
	if len(c.Findings) == 0 {
		return "nothing of the schema breaks or weakens"
	}
	return fmt.Sprintf("breaks: %d, weakens: %d, info: %d", c.Counts[impact.Breaks], c.Counts[impact.Weakens], c.Counts[impact.Info])
}

// groups are the findings of one table after the other, in their order.
func (c *checkedCandidate) groups() [][]impact.Finding {
	return slices.Collect(func(yield func([]impact.Finding) bool) {
		for f := c.Findings; len(f) > 0; {
			n := 1
			for n < len(f) && f[n].Table == f[0].Table {
				n++
			}
			if !yield(f[:n]) {
				return
			}
			f = f[n:]
		}
	})
}

func groupName(f []impact.Finding) string {
	if f[0].Table == "" {
		return "not of one table"
	}
	return strings.TrimPrefix(f[0].Table, "public.")
}

func checkText(out io.Writer, all []checkedCandidate) error {
	var b strings.Builder
	for i := range all {
		c := &all[i]
		if !c.Valid {
			continue // told on standard error
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n%s\n", c.summary(), c.counts())
		for _, group := range c.groups() {
			fmt.Fprintf(&b, "\n%s\n", groupName(group))
			for _, f := range group {
				fmt.Fprintf(&b, "  %-7s  %s: %s\n", f.Severity, titleOf(f), f.Why)
				if f.Repair != "" {
					fmt.Fprintf(&b, "           repair: %s\n", f.Repair)
				}
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// titleOf names the object of a finding: its kind, its name unless it is the table's own, its line in the schema.
func titleOf(f impact.Finding) string {
	s := f.Kind
	if f.Object != f.Table {
		s += " " + f.Object
	}
	if f.Line > 0 {
		s += fmt.Sprintf(" (line %d)", f.Line)
	}
	return s
}

func checkMarkdown(out io.Writer, all []checkedCandidate) error {
	var b strings.Builder
	for i := range all {
		c := &all[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		if !c.Valid {
			fmt.Fprintf(&b, "# %s\n\nThe candidate cannot be used:\n\n", markdown(c.File))
			for _, e := range c.Errors {
				fmt.Fprintf(&b, "- %s\n", markdown(e))
			}
			continue
		}
		fmt.Fprintf(&b, "# %s\n\n%s.\n\n**%s.**\n", markdown(c.Name), markdown(c.summary()), c.counts())
		for _, w := range c.Warnings {
			fmt.Fprintf(&b, "\n- warning: %s\n", markdown(w))
		}
		for _, group := range c.groups() {
			fmt.Fprintf(&b, "\n## %s\n\n| | what | why | repair |\n|---|---|---|---|\n", markdown(groupName(group)))
			for _, f := range group {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Severity, markdown(titleOf(f)), markdown(f.Why), markdown(f.Repair))
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// markdown escapes what a table cell or a paragraph would take for markup.
func markdown(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", `\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`).Replace(s)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
