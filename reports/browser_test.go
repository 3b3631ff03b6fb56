package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserEnv set to "off" skips the tests that need a browser; without one they fail, because a page nobody opened is not tested.
const browserEnv = "FORESHARD_BROWSER"

// browserLimit ends a browser that hangs; it is no expectation of speed.
const browserLimit = 2 * time.Minute

// tab is one page in a headless Chromium and everything it complained about.
type tab struct {
	ctx context.Context

	mu    sync.Mutex
	wrong []string
}

func openTab(t *testing.T, page string, width, height int) *tab {
	t.Helper()
	if os.Getenv(browserEnv) == "off" {
		t.Skip(browserEnv + "=off")
	}
	chromium := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	if chromium == "" {
		t.Fatalf("no chromium: apt-get install chromium, or set %s=off", browserEnv)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.WindowSize(width, height))
	ctx, cancel := context.WithTimeout(t.Context(), browserLimit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{ctx: ctx}
	chromedp.ListenTarget(ctx, b.listen)
	if err := chromedp.Run(ctx, runtime.Enable(), log.Enable(), network.Enable(), chromedp.Navigate("file://"+file), chromedp.WaitReady("footer")); err != nil {
		t.Fatalf("open page: %v", err)
	}
	return b
}

// listen keeps what a page must not do: log errors, break its policy, throw, or ask the network.
func (b *tab) listen(event any) {
	var wrong string
	switch e := event.(type) {
	case *log.EventEntryAdded:
		wrong = fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		args, err := json.Marshal(e.Args)
		wrong = fmt.Sprintf("console %s: %s %v", e.Type, args, err)
	case *runtime.EventExceptionThrown:
		wrong = "exception: " + e.ExceptionDetails.Error()
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file://") && !strings.HasPrefix(e.Request.URL, "data:") {
			wrong = "request: " + e.Request.URL
		}
	}
	if wrong != "" {
		b.mu.Lock()
		b.wrong = append(b.wrong, wrong)
		b.mu.Unlock()
	}
}

// eval runs a script in the page and returns its value as a string.
func (b *tab) eval(t *testing.T, script string) string {
	t.Helper()
	var out any
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(script, &out)); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return fmt.Sprint(out)
}

func (b *tab) want(t *testing.T, script, want string) {
	t.Helper()
	if got := b.eval(t, script); got != want {
		t.Errorf("%s = %s, want %s", script, got, want)
	}
}

func (b *tab) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		t.Errorf("the page complained: %s", w)
	}
}

func TestBrowser(t *testing.T) {
	b := openTab(t, renderHTML(t, twoCandidates(), library(t)), 1280, 900)
	b.want(t, `document.title`, "98.0 % of calls (412 of 431 templates) are ready on by_org")
	b.want(t, `document.querySelectorAll('script:not([type])').length`, "4")
	b.want(t, `typeof echarts`, "object")

	// Every chart of the open tab is drawn; those of the other tab when it opens.
	drawn := `String([...document.querySelectorAll('figure')].filter(f => f.offsetParent && f.querySelector('.plot svg path')).length)`
	open := `String([...document.querySelectorAll('figure')].filter(f => f.offsetParent).length)`
	first := b.eval(t, open)
	b.want(t, drawn, first)
	b.want(t, `document.getElementById('c0').hidden + ' ' + document.getElementById('c1').hidden`, "false true")
	b.eval(t, `document.getElementById('c1-tab').click()`)
	b.want(t, `document.getElementById('c0').hidden + ' ' + document.getElementById('c1').hidden`, "true false")
	b.want(t, drawn, b.eval(t, open))
	b.eval(t, `document.getElementById('c0-tab').click()`)
	b.want(t, drawn, first)

	// A tooltip is drawn without a style attribute, which the policy would refuse.
	b.eval(t, `echarts.getInstanceByDom(document.querySelector('#c0-classes .plot')).dispatchAction({type: 'showTip', seriesIndex: 0, dataIndex: 1})`)
	b.eval(t, `echarts.getInstanceByDom(document.querySelector('#c0-pairs .plot')).dispatchAction({type: 'showTip', seriesIndex: 0, dataIndex: 0})`)
	b.quiet(t)
}

func TestBrowserControls(t *testing.T) {
	r := exampleReport()
	base := r.Candidates[0].Queries[5]
	for i := range 60 {
		q := base
		q.ID, q.Calls = fmt.Sprintf("f%03d", i), int64(i)
		r.Candidates[0].Queries = append(r.Candidates[0].Queries, q)
	}
	b := openTab(t, renderHTML(t, r, library(t)), 1280, 900)
	shown := `[...document.querySelectorAll('.queries tbody tr')].filter(r => !r.hidden).length`
	b.want(t, shown, "25")
	b.eval(t, `document.querySelector('[data-act=more]').click()`)
	b.want(t, shown, "67")
	search := func(text string) {
		t.Helper()
		b.eval(t, fmt.Sprintf(`new Promise(done => { const i = document.querySelector('.controls input'); i.value = %q; i.dispatchEvent(new Event('input')); setTimeout(done, 200); })`, text))
		if err := chromedp.Run(b.ctx, chromedp.Poll(shown+` < 67`, nil)); err != nil {
			t.Fatal(err)
		}
	}
	search("rebuild_index")
	b.want(t, shown, "1")
	b.want(t, `[...document.querySelectorAll('.queries tbody tr')].filter(r => !r.hidden)[0].id`, "c0-e001")

	// A link to a template that the search hides finds it and opens it.
	b.eval(t, `location.hash = '#c0-c3d4'`)
	if err := chromedp.Run(b.ctx, chromedp.Poll(`document.querySelector('#c0-c3d4 details').open`, nil)); err != nil {
		t.Fatal(err)
	}
	b.want(t, `document.getElementById('c0-c3d4').hidden`, "false")
	b.want(t, `document.querySelector('#c0-c3d4 mark').textContent`, "u.user_id")

	b.eval(t, `document.querySelector('[data-readiness=blocked]').click()`)
	b.want(t, shown, "1")
	b.eval(t, `document.querySelector('[data-readiness=blocked]').click()`)
	b.eval(t, `[...document.querySelectorAll('.queries .sort')].find(s => s.textContent === 'calls').click()`)
	b.want(t, `document.querySelector('.queries tbody tr').id`, "c0-0001")
	b.want(t, `document.querySelector('.queries th[aria-sort]').getAttribute('aria-sort')`, "descending")
	b.quiet(t)
}

// TestBrowserTheme: the system's dark setting and the reader's own choice change page and charts.
func TestBrowserTheme(t *testing.T) {
	b := openTab(t, renderHTML(t, exampleReport(), library(t)), 1280, 900)
	background := `getComputedStyle(document.body).backgroundColor`
	label := `document.querySelector('#c0-classes .plot svg text').getAttribute('fill') || document.querySelector('#c0-classes .plot svg text').style.fill`
	light, lightLabel := b.eval(t, background), b.eval(t, label)
	b.eval(t, `document.querySelector('[data-act=theme]').click()`)
	dark, darkLabel := b.eval(t, background), b.eval(t, label)
	if light == dark || lightLabel == darkLabel {
		t.Errorf("page %s → %s, chart label %s → %s: the theme did not change", light, dark, lightLabel, darkLabel)
	}
	b.eval(t, `document.querySelector('[data-act=theme]').click()`)
	b.want(t, background, light)
	b.quiet(t)
}

// TestBrowserNarrow: a phone scrolls the page in one direction only.
func TestBrowserNarrow(t *testing.T) {
	b := openTab(t, renderHTML(t, twoCandidates(), library(t)), 500, 900)
	b.want(t, `String(document.documentElement.scrollWidth <= document.documentElement.clientWidth)`, "true")
	b.quiet(t)
}

// TestBrowserWithoutLibrary: plain bars are shown, and nothing fails.
func TestBrowserWithoutLibrary(t *testing.T) {
	b := openTab(t, renderHTML(t, exampleReport(), ""), 1280, 900)
	b.want(t, `String(document.querySelector('#c0-classes .fallback').offsetHeight > 0)`, "true")
	b.want(t, `document.querySelectorAll('#c0-classes .fallback rect').length > 5`, "true")
	b.quiet(t)
}
