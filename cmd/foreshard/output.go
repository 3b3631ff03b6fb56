package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/foreshard/foreshard/analysis"
	"github.com/foreshard/foreshard/reports"
	"github.com/foreshard/foreshard/web/static"
)

// reportTarget is one place a report goes to; path "" is standard output.
type reportTarget struct {
	format reports.Format
	path   string
}

// reportTargets reads --format and --output.
func reportTargets(format string, outputs []string) ([]reportTarget, error) {
	f, err := reports.ParseFormat(format)
	if err != nil {
		return nil, fmt.Errorf("--format: %w", err)
	}
	targets := []reportTarget{{format: f}}
	seen := map[string]bool{}
	for _, o := range outputs {
		name, path, ok := strings.Cut(o, "=")
		if !ok || path == "" || path == "-" {
			return nil, fmt.Errorf("--output %q: write FORMAT=PATH, for example html=report.html", o)
		}
		f, err := reports.ParseFormat(name)
		if err != nil {
			return nil, fmt.Errorf("--output %q: %w", o, err)
		}
		if seen[filepath.Clean(path)] {
			return nil, fmt.Errorf("--output %q: the file is named twice", o)
		}
		seen[filepath.Clean(path)] = true
		targets = append(targets, reportTarget{f, path})
	}
	return targets, nil
}

// reportOptions are those of standard output.
func reportOptions(out io.Writer, color string) (reports.Options, error) {
	o := reports.Options{Assets: static.FS()}
	file, ok := out.(*os.File)
	tty := ok && term.IsTerminal(int(file.Fd()))
	if tty {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			o.Width = width
		}
	} else if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		o.Width = columns
	}
	switch color {
	case "auto":
		o.Color = tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	case "always":
		o.Color = true
	case "never":
	default:
		return o, fmt.Errorf("--color %q is none of auto, always, never", color)
	}
	return o, nil
}

// writeReports writes every target, files first, so that standard output is the last thing to come.
func writeReports(out io.Writer, r *analysis.Report, targets []reportTarget, o reports.Options) error {
	for _, t := range targets {
		if t.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := reports.Write(&b, t.format, r, reports.Options{Assets: o.Assets}); err != nil {
			return err
		}
		if err := replaceFile(t.path, b.Bytes()); err != nil {
			return fmt.Errorf("write %s report: %w", t.format, err)
		}
	}
	for _, t := range targets {
		if t.path == "" {
			if err := reports.Write(out, t.format, r, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceFile writes a file as a whole: readers see the old content or the new. What is no regular file (a pipe, a terminal) is written to
// directly; a link keeps pointing where it did.
func replaceFile(path string, content []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, content, 0o666)
	}
	// Not os.CreateTemp: its files are the owner's alone, and a report is as readable as any file the user makes.
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
