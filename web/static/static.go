// Package static holds the files that pages need: styles, scripts and, once web/vendor.sh has run, Apache ECharts. Reports put them inside one
// HTML file; the web server serves them. It imports nothing of the project, so that both may.
package static

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// The vendor folder is never empty (it has a README), so that a clean clone builds without it.
//
//go:embed *.css *.js vendor
var files embed.FS

// FS is all files, for a server.
func FS() fs.FS { return files }

// File returns one file by its name in this folder; a name that is not there is a mistake of the program.
func File(name string) (string, error) {
	b, err := files.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read static file %q: %w", name, err)
	}
	return string(b), nil
}

// ECharts returns the minified library, "" if this program was built without it.
func ECharts() (string, error) {
	b, err := files.ReadFile("vendor/echarts/echarts.min.js")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read ECharts: %w", err)
	}
	return string(b), nil
}
