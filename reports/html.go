package reports

import (
	"io"

	"github.com/foreshard/foreshard/analysis"
)

// WriteHTML writes the report as one file.
func WriteHTML(w io.Writer, r *analysis.Report, o Options) error { return nil }
