// Package reports turns an analysis.Report into something people and machines read: text for a terminal, JSON, Markdown and one
// self-contained HTML file. All but the JSON are drawn from one View (sorted, rounded, in words), so they cannot disagree.
//
// It may import analysis and planner; the style and scripts of a page are given to it (web/static has them). It is the only importer of
// go-echarts, which builds chart options here and nothing else: its renderer puts text into pages unescaped and is never called.
//
// Everything in a report that came from captured traffic (SQL, names, tags) is hostile: it may hold terminal escapes, markup, workflow
// commands of CI systems or bidirectional controls. It passes through clean.go before it reaches any output.
package reports

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/foreshard/foreshard/analysis"
)

// Format names an output format.
type Format string

// The formats.
const (
	Text     Format = "text"
	JSON     Format = "json"
	Markdown Format = "markdown"
	HTML     Format = "html"
)

// Formats lists the formats as flags accept them.
func Formats() []Format { return []Format{Text, JSON, Markdown, HTML} }

// ParseFormat finds the format a flag names; "md" is accepted for Markdown.
func ParseFormat(name string) (Format, error) {
	if name == "md" {
		return Markdown, nil
	}
	for _, f := range Formats() {
		if string(f) == name {
			return f, nil
		}
	}
	return "", fmt.Errorf("parse format: %q is none of text, json, markdown, html", name)
}

// Options shape an output. The zero value is right for files, HTML excepted.
type Options struct {
	Width   int  // of the terminal, in columns; 0 means 100. Text only
	Color   bool // ANSI colours. Text only
	Queries int  // templates listed per candidate; 0 means the format's own limit (HTML 2,000, Markdown 20)
	// Assets are the style, the scripts and, if it is there, the chart library of a page. HTML only, which needs them.
	Assets fs.FS
}

// Write writes the report in the format.
func Write(w io.Writer, f Format, r *analysis.Report, o Options) error {
	switch f {
	case Text:
		return WriteText(w, r, o)
	case JSON:
		return WriteJSON(w, r)
	case Markdown:
		return WriteMarkdown(w, r, o)
	case HTML:
		return WriteHTML(w, r, o)
	}
	return fmt.Errorf("write report: unknown format %q", f)
}
