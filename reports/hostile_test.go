package reports

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/foreshard/foreshard/analysis"
	"pgregory.net/rapid"
)

// inert says what is wrong with an output line by line: terminals and CI systems obey these.
func inert(out string, colour bool) string {
	if !utf8.ValidString(out) {
		return "invalid UTF-8"
	}
	for _, l := range strings.Split(out, "\n") {
		if strings.HasPrefix(strings.TrimSpace(l), "::") {
			return "a line is a workflow command: " + l
		}
		if ciCommand.MatchString(l) {
			return "a line holds a workflow command: " + l
		}
		for _, r := range l {
			if r == '\n' || r == '\t' || colour && r == 0x1b {
				continue
			}
			if r < 0x20 || hidden(r) && r != 0xfe0f { // the emoji form of our own warning sign
				return "a line holds a control character: " + l
			}
		}
	}
	return ""
}

func TestHostileTextStaysInert(t *testing.T) {
	for _, f := range []Format{Text, Markdown, JSON} {
		var b bytes.Buffer
		if err := Write(&b, f, twoCandidates(), Options{}); err != nil {
			t.Fatal(err)
		}
		if problem := inert(b.String(), false); problem != "" {
			t.Errorf("%s: %.300q", f, problem)
		}
	}
}

// TestAnyTextStaysInert: whatever is captured, in every place a report has for it.
func TestAnyTextStaysInert(t *testing.T) {
	html := Options{Assets: assets(t, "")}
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"::", "##", "[", "##vso[", "\n", "\x1b[2J", "`", "```", "|", "<", "\\", "\xff", "\u202e", " ", "\u2028", "e\u0301", "漢字"}))
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		r := exampleReport()
		shorten(r)
		c := &r.Candidates[0]
		c.Name, c.Dialect, c.Undecided = text, text, []string{text}
		c.Queries[0].Text, c.Queries[0].Teams, c.Tables[0].Table, c.Teams[0].Team = text, []string{text}, text, text
		c.Queries[0].Reasons[0].Position = rapid.IntRange(-1, len(text)).Draw(t, "position")
		c.Reasons[0].Hint, c.Reasons[0].Short = text, text
		width := rapid.IntRange(0, 200).Draw(t, "width")
		for _, f := range []Format{Text, Markdown, JSON} {
			var b bytes.Buffer
			if err := Write(&b, f, r, Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			if problem := inert(b.String(), false); problem != "" {
				t.Fatalf("%s: %.300q", f, problem)
			}
			if f == JSON {
				var back analysis.Report
				if err := json.Unmarshal(b.Bytes(), &back); err != nil {
					t.Fatal(err)
				}
				if got, want := back.Candidates[0].Name, strings.ToValidUTF8(text, "\ufffd"); utf8.ValidString(text) && got != want {
					t.Fatalf("name came back as %q, want %q", got, want)
				}
			}
		}
		var b bytes.Buffer
		if err := WriteHTML(&b, r, html); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "<script"); n != strings.Count(b.String(), "</script>") {
			t.Fatalf("%d scripts are open", n)
		}
	})
}

// TestTextFitsItsWidth: no line is wider than the terminal, but for words that are ours.
func TestTextFitsItsWidth(t *testing.T) {
	for _, width := range []int{60, 80, 100, 160} {
		var b bytes.Buffer
		if err := WriteText(&b, twoCandidates(), Options{Width: width, Color: true}); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if n := columns(l); n > max(width, 66) {
				t.Errorf("width %d: a line has %d columns: %s", width, n, l)
			}
		}
	}
}

// TestJSONKeepsTheReport: what is written is read back equal, lists and maps are never null, and the bytes do not depend on the run.
func TestJSONKeepsTheReport(t *testing.T) {
	r := twoCandidates()
	var first, second bytes.Buffer
	if err := WriteJSON(&first, r); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&second, r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two writes differ")
	}
	if bytes.Contains(first.Bytes(), []byte("null")) {
		t.Error("the JSON has a null")
	}
	if !bytes.HasSuffix(first.Bytes(), []byte("}\n")) {
		t.Error("no newline at the end")
	}
	var back analysis.Report
	if err := json.Unmarshal(first.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := WriteJSON(&again, &back); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) || back.Ledger.Bytes != r.Ledger.Bytes || !reflect.DeepEqual(back.Window, r.Window) {
		t.Error("the report changed on its way")
	}
}

// TestReportIsNotChanged: views sort copies.
func TestReportIsNotChanged(t *testing.T) {
	a, b := twoCandidates(), twoCandidates()
	for _, f := range Formats() {
		if err := Write(&bytes.Buffer{}, f, a, Options{Assets: assets(t, "")}); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("writing changed the report")
	}
}

// TestFormatsAgree: the headline is the same sentence in every format.
func TestFormatsAgree(t *testing.T) {
	const want = "98.0 % of calls (412 of 431 templates) are ready on by_org"
	for _, f := range []Format{Text, Markdown} {
		var b bytes.Buffer
		if err := Write(&b, f, exampleReport(), Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks the headline", f)
		}
	}
	if page := renderHTML(t, exampleReport(), ""); !strings.Contains(page, "<title>"+want) {
		t.Error("the page lacks the headline")
	}
}

func TestGoldenFilesAreAllTested(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	var source []byte
	for _, tests := range []string{"golden_test.go", "coverage_test.go"} {
		text, err := os.ReadFile(tests)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	for _, f := range files {
		if name := filepath.Base(f); !strings.Contains(string(source), `"`+name+`"`) && name != "one.html" && name != "rapid" && name != "fuzz" {
			t.Errorf("nothing tests %s", f)
		}
	}
}
