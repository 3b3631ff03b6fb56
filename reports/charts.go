package reports

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Chart is one chart of a page, in three forms that hold the same numbers: options for ECharts, bars for pages without it, a table.
type Chart struct {
	ID, Title string
	Unit      string // written after values in tooltips
	Height    int    // pixels
	Option    map[string]any
	Bars      []BarRow // nil: the table is all there is without ECharts
	Legend    []LegendItem
	Head      []string
	Rows      [][]string
	Open      bool // the table is shown, because nothing else is
}

// BarRow is one bar drawn as SVG.
type BarRow struct {
	Label, Value string
	Parts        []BarPart
}

// BarPart is one part of a bar; X and W are in percent of the width.
type BarPart struct{ Fill, Title, X, W string }

// LegendItem names one colour.
type LegendItem struct{ Fill, Label string }

// series is one colour of a stacked bar chart.
type series struct {
	name, fill string // fill is a CSS custom property without its dashes
	values     []float64
}

// How many bars and steps a chart shows; tables below it have all rows.
const (
	chartReasons = 8
	chartTables  = 12
	chartSteps   = 40
)

// finish is what every chart needs and the typed options lack: tooltips drawn on the canvas (the default ones are HTML with style attributes,
// which the page's policy refuses), a text for screen readers, patterns beside colours, colours as custom properties of the page.
type finish struct {
	charts.BaseConfigurationVisitor
	decal bool
}

func (f finish) Visit(chart map[string]any) {
	chart["aria"] = map[string]any{"enabled": true, "decal": map[string]any{"show": f.decal, "decals": decals()}}
	chart["textStyle"] = map[string]any{"color": "var(--muted)", "fontFamily": "inherit", "fontSize": 12}
	delete(chart, "toolbox")
	delete(chart, "title")
	delete(chart, "color")
}

// decals are the patterns that tell colours apart for those who do not see them: none for the first, then faint lines and dots.
func decals() []map[string]any {
	line := func(turn float64) map[string]any {
		return map[string]any{"symbol": "rect", "color": "rgba(255, 255, 255, 0.32)", "dashArrayX": []int{1, 0}, "dashArrayY": []int{2, 4}, "rotation": turn}
	}
	dots := map[string]any{"symbol": "circle", "color": "rgba(255, 255, 255, 0.4)", "dashArrayX": []any{[]int{5, 5}, []int{0, 5, 5, 0}}, "dashArrayY": []int{4, 0}, "symbolSize": 0.7}
	return []map[string]any{{"symbol": "none"}, line(math.Pi / 4), dots, line(-math.Pi / 4), line(0), line(math.Pi / 2)}
}

func (f finish) VisitTooltipOpt(t opts.Tooltip) any {
	return map[string]any{
		"show": true, "trigger": t.Trigger, "renderMode": "richText", "confine": true, "backgroundColor": "var(--surface)", "borderColor": "var(--line)",
		"textStyle": map[string]any{"color": "var(--ink)", "fontSize": 12},
	}
}

func (f finish) VisitLegendOpt(l opts.Legend) any {
	return map[string]any{
		"show": l.Show, "bottom": 0, "left": 0, "type": "scroll", "icon": "roundRect", "itemWidth": 12, "itemHeight": 12,
		"textStyle": map[string]any{"color": "var(--muted)"}, "pageTextStyle": map[string]any{"color": "var(--muted)"},
	}
}

func (f finish) VisitGrid([]opts.Grid) any {
	return []any{map[string]any{"left": 4, "right": 24, "top": 8, "bottom": 36, "outerBoundsMode": "same", "outerBoundsContain": "axisLabel"}}
}

// axisStyle gives an axis the page's colours; the typed options are kept.
func axisStyle(kind string, data any, labelWidth int) map[string]any {
	label := map[string]any{"color": "var(--muted)"}
	if labelWidth > 0 {
		label["width"], label["overflow"], label["lineHeight"] = labelWidth, "break", 13
	}
	return map[string]any{
		"type": kind, "data": data, "axisLabel": label, "axisTick": map[string]any{"show": false},
		"axisLine":  map[string]any{"show": kind == "category", "lineStyle": map[string]any{"color": "var(--line)"}},
		"splitLine": map[string]any{"show": kind == "value", "lineStyle": map[string]any{"color": "var(--line)"}},
	}
}

// horizontal is finish for bars that lie: categories on the y axis, first on top.
type horizontal struct {
	finish
	percent bool
}

func (h horizontal) VisitXAxis([]opts.XAxis) any {
	axis := axisStyle("value", nil, 0)
	axis["splitNumber"] = 4
	if h.percent {
		axis["max"], axis["interval"] = 100, 25
	}
	return []any{axis}
}

func (h horizontal) VisitYAxis(y []opts.YAxis) any {
	axis := axisStyle("category", y[0].Data, 170)
	axis["inverse"] = true
	return []any{axis}
}

// stacked builds a chart of lying bars. unit "%" means every bar adds up to 100.
func stacked(id, title, unit string, categories []string, list []series, stack bool) Chart {
	bar := charts.NewBar()
	bar.SetGlobalOptions(charts.WithTooltipOpts(opts.Tooltip{Trigger: "axis"}), charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true)}), charts.WithGridOpts(opts.Grid{}))
	bar.SetXAxis(categories)
	c := Chart{ID: id, Title: title, Unit: unit, Head: []string{""}}
	for _, s := range list {
		data := make([]opts.BarData, len(s.values))
		for i, v := range s.values {
			data[i] = opts.BarData{Value: round(v)}
		}
		options := []charts.SeriesOpts{charts.WithItemStyleOpts(opts.ItemStyle{Color: "var(--" + s.fill + ")"})}
		if stack {
			options = append(options, charts.WithBarChartOpts(opts.BarChart{Stack: "all", BarWidth: "20"}))
		} else {
			options = append(options, charts.WithBarChartOpts(opts.BarChart{BarWidth: "10"}))
		}
		bar.AddSeries(s.name, data, options...)
		c.Legend = append(c.Legend, LegendItem{s.fill, s.name})
		c.Head = append(c.Head, s.name)
	}
	bar.XYReversal()
	bar.Validate()
	bar.Accept(horizontal{finish{decal: true}, stack && unit == "%"})
	c.Option = bar.JSON()
	c.Height = 64 + 34*len(categories)
	c.Bars, c.Rows = bars(categories, list, unit, stack)
	return c
}

// bars are the same numbers as SVG and as a table.
func bars(categories []string, list []series, unit string, stack bool) ([]BarRow, [][]string) {
	largest := 0.0
	for i := range categories {
		total := 0.0
		for _, s := range list {
			if stack {
				total += s.values[i]
			} else {
				total = math.Max(total, s.values[i])
			}
		}
		largest = math.Max(largest, total)
	}
	var rows []BarRow
	var cells [][]string
	for i, name := range categories {
		row, at := BarRow{Label: name}, 0.0
		line := []string{name}
		for j, s := range list {
			text := value(s.values[i], unit)
			line = append(line, text)
			if largest > 0 && s.values[i] > 0 && (stack || j == 0) {
				w := 100 * s.values[i] / largest
				row.Parts = append(row.Parts, BarPart{Fill: s.fill, Title: s.name + ": " + text, X: number(at), W: number(w)})
				at += w
			}
		}
		if !stack {
			row.Value = line[1]
		}
		rows, cells = append(rows, row), append(cells, line)
	}
	return rows, cells
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

// round keeps the six digits that a chart can show, so that options do not depend on the order of a sum.
func round(f float64) float64 { return math.Round(f*1e6) / 1e6 }

func value(v float64, unit string) string {
	if unit == "%" {
		return percent(v, 100)
	}
	return Count(int64(v))
}

// stackOf is the parts of one bar of slices, for bars inside tables.
func stackOf(list []Slice) []BarPart {
	var out []BarPart
	at := 0.0
	for _, s := range list {
		if s.Fraction <= 0 {
			continue
		}
		out = append(out, BarPart{Fill: s.Mark.Key, Title: s.Mark.Word + " " + s.Share, X: number(at), W: number(100 * s.Fraction)})
		at += 100 * s.Fraction
	}
	return out
}

// candidateCharts are the charts of one candidate by name. Without the library the tables of those that have no bars are open.
func candidateCharts(c *CandidateView, library bool) map[string]Chart {
	out := map[string]Chart{}
	if len(c.Classes) > 0 {
		out["classes"] = classChart(c)
	}
	if len(c.Reasons) > 0 {
		out["reasons"] = reasonChart(c)
	}
	if len(c.Tables) > 1 {
		out["tables"] = tableChart(c)
	}
	if effort := effortChart(c); len(effort.Rows) > 2 {
		out["effort"] = effort
	}
	if len(c.Pairs) > 1 {
		out["pairs"] = pairChart(c)
	}
	for name, chart := range out {
		chart.Open = !library && chart.Bars == nil
		out[name] = chart
	}
	return out
}

func classChart(c *CandidateView) Chart {
	var list []series
	for _, r := range c.Classes {
		list = append(list, series{label(r.Key), "c-" + classFill(r.Key), []float64{100 * r.Calls.Fraction, 100 * r.Time.Fraction, 100 * r.Templates.Fraction}})
	}
	return stacked(c.Anchor+"-classes", "Classes by calls, time and templates", "%", []string{"calls", "time", "templates"}, list, true)
}

// classFill is the custom property of a class; one that the page does not know has the colour of unknown.
func classFill(class string) string {
	if slices.Contains(classOrder[:], class) {
		return class
	}
	return "unknown"
}

func reasonChart(c *CandidateView) Chart {
	var names []string
	calls, time := series{name: "of calls", fill: "bar-1"}, series{name: "of time", fill: "bar-2"}
	for _, r := range c.Reasons[:min(len(c.Reasons), chartReasons)] {
		names = append(names, before(r.Short))
		calls.values = append(calls.values, 100*r.Calls.Fraction)
		time.values = append(time.values, 100*r.Time.Fraction)
	}
	return stacked(c.Anchor+"-reasons", "Share of traffic that each reason keeps from being ready", "%", names, []series{calls, time}, false)
}

func tableChart(c *CandidateView) Chart {
	var names []string
	list := make([]series, len(readinessOrder))
	for i, k := range readinessOrder {
		list[i] = series{name: k, fill: k}
	}
	for _, t := range c.Tables[:min(len(c.Tables), chartTables)] {
		names = append(names, t.Table)
		for i, s := range t.Mix {
			list[i].values = append(list[i].values, s.Number)
		}
	}
	return stacked(c.Anchor+"-tables", "Calls per table by readiness", "calls", names, list, true)
}

// upright is finish for a line: numbers on both axes.
type upright struct {
	finish
	low float64
}

func (u upright) VisitXAxis(x []opts.XAxis) any {
	axis := axisStyle("category", x[0].Data, 0)
	axis["name"], axis["nameLocation"], axis["nameGap"] = "templates fixed, busiest first", "middle", 26
	axis["nameTextStyle"] = map[string]any{"color": "var(--muted)"}
	return []any{axis}
}

func (u upright) VisitYAxis([]opts.YAxis) any {
	axis := axisStyle("value", nil, 0)
	axis["min"], axis["max"], axis["interval"] = u.low, 100, (100-u.low)/4
	return []any{axis}
}

// effortChart says how ready the calls would be after fixing the n busiest templates.
func effortChart(c *CandidateView) Chart {
	chart := Chart{ID: c.Anchor + "-effort", Title: "Calls that would be ready after fixing the busiest templates", Unit: "%", Height: 240, Head: []string{"templates fixed", "calls ready"}}
	ready := 0.0
	for _, r := range c.Readiness {
		if r.Key == "ready" {
			ready = 100 * r.Calls.Fraction
		}
	}
	low := math.Floor(ready/10) * 10
	var steps []string
	var points []opts.LineData
	add := func(n int) {
		steps = append(steps, strconv.Itoa(n))
		points = append(points, opts.LineData{Value: round(ready), SymbolSize: 5})
		chart.Rows = append(chart.Rows, []string{strconv.Itoa(n), percent(ready, 100)})
	}
	add(0)
	n := 0
	for i := range c.Queries {
		if q := &c.Queries[i]; q.Mark.Key != "ready" && n < chartSteps {
			n++
			ready = math.Min(100, ready+100*q.Calls.Fraction)
			add(n)
		}
	}
	line := charts.NewLine()
	line.SetGlobalOptions(charts.WithTooltipOpts(opts.Tooltip{Trigger: "axis"}), charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}), charts.WithGridOpts(opts.Grid{}))
	line.SetXAxis(steps).AddSeries("calls ready", points, charts.WithItemStyleOpts(opts.ItemStyle{Color: "var(--ready)"}), charts.WithLineChartOpts(opts.LineChart{Step: "end"}))
	line.Validate()
	line.Accept(upright{low: low})
	chart.Option = line.JSON()
	return chart
}

// matrix is finish for a heat map.
type matrix struct {
	finish
	x, y    []string
	largest float64
}

func (m matrix) VisitXAxis([]opts.XAxis) any { return []any{axisStyle("category", m.x, 110)} }
func (m matrix) VisitYAxis([]opts.YAxis) any { return []any{axisStyle("category", m.y, 170)} }

func (m matrix) VisitVisualMaps([]opts.VisualMap) any {
	return []any{map[string]any{
		"min": 0, "max": round(m.largest), "show": false, "inRange": map[string]any{"color": []string{"var(--heat-0)", "var(--heat-1)"}},
	}}
}

func pairChart(c *CandidateView) Chart {
	chart := Chart{ID: c.Anchor + "-pairs", Title: "Calls that join two tables across colos", Unit: "calls", Head: []string{"table", "joined with", "calls"}}
	pairs := slices.Clone(c.Pairs[:min(len(c.Pairs), 30)])
	m := matrix{}
	for _, p := range pairs {
		m.y, m.x = append(m.y, p.Left), append(m.x, p.Right)
		m.largest = math.Max(m.largest, p.Calls.Number)
	}
	slices.SortFunc(m.y, func(a, b string) int { return cmp.Compare(b, a) })
	slices.Sort(m.x)
	m.y, m.x = slices.Compact(m.y), slices.Compact(m.x)
	var data []opts.HeatMapData
	for _, p := range pairs {
		data = append(data, opts.HeatMapData{Name: p.Left + " ⋈ " + p.Right, Value: []any{slices.Index(m.x, p.Right), slices.Index(m.y, p.Left), round(p.Calls.Number)}})
		chart.Rows = append(chart.Rows, []string{p.Left, p.Right, p.Calls.Value})
	}
	heat := charts.NewHeatMap()
	heat.SetGlobalOptions(charts.WithTooltipOpts(opts.Tooltip{Trigger: "item"}), charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithGridOpts(opts.Grid{}), charts.WithVisualMapOpts(opts.VisualMap{}))
	heat.AddSeries("calls", data, charts.WithLabelOpts(opts.Label{Show: opts.Bool(true)}))
	heat.Validate()
	heat.Accept(m)
	chart.Option = heat.JSON()
	chart.Height = 70 + 40*len(m.y)
	return chart
}

// compareChart sets the readiness of the candidates side by side.
func compareChart(list []CandidateView) Chart {
	var names []string
	s := make([]series, len(readinessOrder))
	for i, k := range readinessOrder {
		s[i] = series{name: k, fill: k}
	}
	for i := range list {
		for _, m := range []struct {
			name string
			of   func(*ShareRow) Measure
		}{{"calls", func(r *ShareRow) Measure { return r.Calls }}, {"time", func(r *ShareRow) Measure { return r.Time }}, {"templates", func(r *ShareRow) Measure { return r.Templates }}} {
			names = append(names, list[i].Name+", "+m.name)
			for j, k := range readinessOrder {
				v := 0.0
				for x := range list[i].Readiness {
					if list[i].Readiness[x].Key == k {
						v = 100 * m.of(&list[i].Readiness[x]).Fraction
					}
				}
				s[j].values = append(s[j].values, v)
			}
		}
	}
	return stacked("compare", "Readiness under each candidate", "%", names, s, true)
}

// before is a heading without the particulars after its colon: an axis has little room.
func before(s string) string {
	head, _, _ := strings.Cut(s, ": ")
	return head
}
