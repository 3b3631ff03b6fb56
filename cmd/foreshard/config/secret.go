package config

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// The places where a connection string holds a password: `password=…` in the keyword form, quoted or not, and in the query of a URL; the part of a
// URL before the @.
var (
	keyword  = regexp.MustCompile(`(?i)((?:ssl)?password\s*=\s*)('(?:[^'\\]|\\.)*'?|[^\s&]+)`)
	userinfo = regexp.MustCompile(`(://[^:/@\s]*:)(.*)(@)`)
)

const masked = "***"

// Mask takes the passwords out of a value.
func Mask(text string) string {
	out := userinfo.ReplaceAllString(text, "${1}"+masked+"${3}")
	out = keyword.ReplaceAllString(out, "${1}"+masked)
	if !strings.Contains(text, "=") && !strings.Contains(text, "://") {
		return out
	}
	// What the driver would take for the password must be gone, whatever the patterns think.
	cfg, err := pgconn.ParseConfig(text)
	if err == nil && cfg.Password != "" && (strings.Contains(out, cfg.Password) || strings.Contains(out, url.QueryEscape(cfg.Password))) {
		return masked
	}
	return out
}
