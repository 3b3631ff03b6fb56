package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/foreshard/foreshard/capture/sqlfile"
	"github.com/foreshard/foreshard/planner"
)

// isSQL tells query files from lines of JSON: a folder, or a name that ends in .sql.
func isSQL(path string) bool {
	if strings.EqualFold(filepath.Ext(path), ".sql") {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// explainFiles judges each statement of a query file, or of all in a folder. A file that cannot be cut into statements ends the run, with
// its name and line.
func explainFiles(out io.Writer, explain func(planner.Question) planner.Answer, path, format string) error {
	w, err := newAnswers(out, format)
	if err != nil {
		return err
	}
	files, err := sqlfile.Files(path)
	if err != nil {
		return err
	}
	for _, file := range files {
		list, broken := sqlfile.Read(file)
		for _, st := range list {
			w.file, w.line = filepath.ToSlash(st.File), st.Line
			id := fmt.Sprintf("%s:%d", w.file, st.Line)
			if st.Name != "" {
				id = st.Name
			}
			if format == "text" && st.Name != "" {
				id = fmt.Sprintf("%s:%d %s", w.file, st.Line, st.Name)
			}
			if err := w.put(id, st.SQL, explain(planner.Question{SQL: st.SQL, Setup: st.Setup})); err != nil {
				return err
			}
		}
		if broken != nil {
			return errors.Join(w.flush(), broken)
		}
	}
	if w.n == 0 {
		return fmt.Errorf("%s: %w", path, sqlfile.ErrNone)
	}
	return w.close()
}

// placed adds the place of a statement to its verdict: {"file","line",...}.
func placed(verdict []byte, file string, line int) ([]byte, error) {
	place, err := json.Marshal(struct {
		File string `json:"file"`
		Line int    `json:"line"`
	}{file, line})
	if err != nil {
		return nil, fmt.Errorf("write place of statement: %w", err)
	}
	return append(append(place[:len(place)-1], ','), verdict[1:]...), nil
}
