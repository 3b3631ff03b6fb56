// Package static holds the files that pages need: styles, scripts and, once web/vendor.sh has run, Apache ECharts with its licences. A report
// puts them inside one HTML file; the web server serves them. It imports nothing of the project.
package static

import (
	"embed"
	"io/fs"
)

// The vendor folder is never empty (it has a README), so that a clean clone builds without the library.
//
//go:embed *.css *.js vendor
var files embed.FS

// FS is all files, by their names in this folder.
func FS() fs.FS { return files }
