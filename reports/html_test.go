package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/foreshard/foreshard/analysis"
)

var (
	scriptTag = regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`)
	styleTag  = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	policyTag = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)
)

// assets are the shipped style and scripts with a library of the test's; "" for none.
func assets(t testing.TB, echarts string) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	for _, name := range []string{styleFile, themeFile, pageFile, chartsFile} {
		b, err := os.ReadFile(filepath.Join(staticDir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = &fstest.MapFile{Data: b}
	}
	if echarts != "" {
		out[echartsFile] = &fstest.MapFile{Data: []byte(echarts)}
	}
	return out
}

const staticDir = "../web/static"

// library is the vendored ECharts; a test that is about charts cannot run without it.
func library(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(staticDir, echartsFile))
	if err != nil {
		t.Fatalf("%v: run sh web/vendor.sh", err)
	}
	return string(b)
}

func renderHTML(t testing.TB, r *analysis.Report, echarts string) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, r, Options{Assets: assets(t, echarts)}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTMLPolicy: every script and style of the page is one that its policy names, and the rest is data that parses.
func TestHTMLPolicy(t *testing.T) {
	for name, echarts := range map[string]string{"library": library(t), "stand-in": "var echarts = {};", "none": ""} {
		t.Run(name, func(t *testing.T) {
			page := renderHTML(t, twoCandidates(), echarts)
			m := policyTag.FindStringSubmatch(page)
			if m == nil {
				t.Fatal("no policy")
			}
			policy := html.UnescapeString(m[1])
			if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
				t.Errorf("policy is weak: %s", policy)
			}
			named := func(kind, text string) {
				t.Helper()
				sum := sha256.Sum256([]byte(text))
				if !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) {
					t.Errorf("%s is not named by the policy: %.60q", kind, text)
				}
			}
			data, code := 0, 0
			for _, s := range scriptTag.FindAllStringSubmatch(page, -1) {
				if strings.Contains(s[1], "application/json") {
					data++
					if !json.Valid([]byte(s[2])) {
						t.Errorf("chart data is not JSON: %.80q", s[2])
					}
					continue
				}
				code++
				named("script", s[2])
			}
			want := 2
			if echarts != "" {
				want = 4
			}
			if code != want || data < 4 {
				t.Errorf("%d scripts, want %d; %d charts", code, want, data)
			}
			for _, s := range styleTag.FindAllStringSubmatch(page, -1) {
				named("style", s[1])
			}
		})
	}
}

// TestHTMLIsInert: captured text never becomes markup, an attribute of its own, an address or a control character.
func TestHTMLIsInert(t *testing.T) {
	page := renderHTML(t, twoCandidates(), "")
	for _, bad := range []string{"<script>document", "<b>pipe", "\x00", "\x1b", "\u202e", "\u009b", "javascript:x\"", " style=", " onclick=", "http://", "https://", "src=\""} {
		if at := strings.Index(page, bad); at >= 0 {
			t.Errorf("the page has %q: …%.120q", bad, page[max(0, at-40):])
		}
	}
	if !strings.Contains(page, "more characters") || len(page) > 1<<20 {
		t.Errorf("the page is %d bytes long: a megabyte of SQL was not cut", len(page))
	}
}

func TestHTMLWithoutLibrarySaysSo(t *testing.T) {
	page := renderHTML(t, exampleReport(), "")
	if !strings.Contains(page, "without the chart library") || !strings.Contains(page, `class="fallback"`) {
		t.Error("no plain bars, or no word about them")
	}
}

func TestHTMLGolden(t *testing.T) {
	page := renderHTML(t, exampleReport(), "")
	body := page[strings.Index(page, "<body>"):]
	body = body[:strings.LastIndex(body, "<script>")] // the style and scripts have their own files
	golden(t, "one.html", []byte(body))
}

func TestHTMLNeedsItsAssets(t *testing.T) {
	for name, o := range map[string]Options{"none": {}, "empty": {Assets: fstest.MapFS{}}} {
		if err := WriteHTML(&bytes.Buffer{}, exampleReport(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
