package pgdoctor

import (
	"fmt"
	"io"
	"strings"
)

// Text writes the report for people, Fixes included.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	f := r.Server
	kind := "primary"
	if f.Replica {
		kind = "replica"
	}
	fmt.Fprintf(&b, "PostgreSQL %s, %s; database %q as role %q\n", f.Text, kind, f.Database, f.Role.Name)
	if len(f.Hidden) > 0 {
		fmt.Fprintf(&b, "The role may not read %s: grant pg_read_all_settings (or pg_monitor) to see them.\n", strings.Join(f.Hidden, ", "))
	}
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "\n%s: %s\n", s.Name, s.Shows)
		if s.Files != "" {
			fmt.Fprintf(&b, "  files  %s\n", s.Files)
		}
		if s.Name == "pg_stat_statements" {
			fmt.Fprintf(&b, "  in     %s\n", databases(f))
			if f.Stats != nil {
				b.WriteString("  use    run --statistics, capture --statistics: how much of the traffic the log has, and what it does not have\n")
			}
		}
		if s.Name == "wal" {
			for i, line := range walUse(f) {
				fmt.Fprintf(&b, "%s%s\n", [...]string{"  use    ", "         ", "         sql   "}[i], line)
			}
		}
		for _, x := range s.Findings {
			fmt.Fprintf(&b, "  %-6s %s\n", x.Weight, x.Message)
			for _, line := range x.Fix {
				fmt.Fprintf(&b, "         fix   %s\n", line)
			}
			if x.Cost != "" && len(x.Fix) > 0 {
				fmt.Fprintf(&b, "         cost  %s\n", x.Cost)
			}
		}
	}
	reload, restart := r.Fixes()
	if len(reload)+len(restart) > 0 {
		b.WriteString("\nTo see all that the log can show:\n")
		for _, line := range append(reload, restart...) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		if len(reload) > 0 {
			b.WriteString("  SELECT pg_reload_conf();\n")
		}
		if len(restart) > 0 {
			b.WriteString("  -- and restart the server for the last ones\n")
		}
	}
	if r.Visible {
		b.WriteString("\nTraffic can be seen in the log.\n")
	} else {
		b.WriteString("\nTraffic cannot be seen in the log as the server is set.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// databases lists which database has which version of the extension.
func databases(f *Facts) string {
	var out []string
	for _, d := range f.Databases {
		version := d.Extension
		switch {
		case d.Error != "":
			version = "not asked"
		case version == "":
			version = "none"
		}
		out = append(out, fmt.Sprintf("%q %s", d.Name, version))
	}
	return strings.Join(out, ", ")
}

// Fixes are the statements that make the log show what it can, those that need a restart apart. What only one should know is left out.
func (r *Report) Fixes() (reload, restart []string) {
	seen := map[string]bool{}
	for _, x := range r.Sources[0].Findings {
		if x.Weight == Note {
			continue
		}
		for _, line := range x.Fix {
			if seen[line] {
				continue
			}
			seen[line] = true
			if x.Restart {
				restart = append(restart, line)
			} else {
				reload = append(reload, line)
			}
		}
	}
	return reload, restart
}
