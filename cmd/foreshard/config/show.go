package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/goccy/go-yaml"
)

// Verb is a verb with its settings.
type Verb struct {
	Name     string
	Settings []Setting
}

// Write writes settings as text, as JSON, or as YAML that is a configuration file again, but for masked secrets.
func Write(w io.Writer, format string, verbs []Verb, origin bool) error {
	switch format {
	case "text":
		return writeText(w, verbs, origin)
	case "json":
		return writeJSON(w, verbs)
	case "yaml":
		return writeYAML(w, verbs, origin)
	}
	return fmt.Errorf("--format %q is none of text, json, yaml", format)
}

func writeText(w io.Writer, verbs []Verb, origin bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, v := range verbs {
		if i > 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintln(t, v.Name)
		for _, s := range v.Settings {
			fmt.Fprintf(t, "  %s\t%s", s.Name, plain(s.Value))
			if origin {
				fmt.Fprintf(t, "\t%s", s.Origin)
			}
			fmt.Fprintln(t)
		}
	}
	return t.Flush()
}

// plain is a value on one line; what would be hard to see is quoted.
func plain(v any) string {
	switch v := v.(type) {
	case []string:
		items := make([]string, len(v))
		for i, s := range v {
			items[i] = plain(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		if quoted := strconv.Quote(v); v == "" || strings.ContainsAny(v, " ,[]") || quoted != `"`+v+`"` {
			return quoted
		}
		return v
	}
	return fmt.Sprint(v)
}

func writeJSON(w io.Writer, verbs []Verb) error {
	type value struct {
		Value  any    `json:"value"`
		Origin string `json:"origin"`
	}
	out := map[string]map[string]value{}
	for _, v := range verbs {
		settings := map[string]value{}
		for _, s := range v.Settings {
			settings[s.Name] = value{s.Value, s.Origin}
		}
		out[v.Name] = settings
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func writeYAML(w io.Writer, verbs []Verb, origin bool) error {
	var b bytes.Buffer
	var open []string // the section that is open
	for _, v := range verbs {
		words := strings.Fields(v.Name)
		for i, word := range words {
			if i >= len(open) || open[i] != word {
				open = append(open[:i:i], word)
				fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", i), word)
			}
		}
		open = words
		for _, s := range v.Settings {
			text, err := yaml.MarshalWithOptions(s.Value, yaml.Flow(true), yaml.JSON())
			if err != nil {
				return fmt.Errorf("write %s: %w", s.Name, err)
			}
			fmt.Fprintf(&b, "%s%s: %s", strings.Repeat("  ", len(words)), s.Name, strings.TrimSpace(string(text)))
			if origin {
				fmt.Fprintf(&b, "  # %s", s.Origin)
			}
			b.WriteByte('\n')
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
