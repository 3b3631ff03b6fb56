// Draws the charts of a page from the options beside them. Options are data: colours in them are names of the page's custom properties.
(function () {
  'use strict';
  if (typeof echarts === 'undefined') return;
  var still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  var drawn = [];
  function colours(value, style) {
    if (typeof value === 'string') {
      var m = /^var\((--[\w-]+)\)$/.exec(value);
      return m ? style.getPropertyValue(m[1]).trim() : value === 'inherit' ? getComputedStyle(document.body).fontFamily : value;
    }
    if (Array.isArray(value)) return value.map(function (v) { return colours(v, style); });
    if (value && typeof value === 'object') {
      var out = {};
      Object.keys(value).forEach(function (k) { out[k] = colours(value[k], style); });
      return out;
    }
    return value;
  }
  function shown(v) {
    if (Array.isArray(v)) v = v[v.length - 1];
    return typeof v === 'number' ? v.toLocaleString('en', { maximumFractionDigits: 2 }) : v;
  }
  function draw(item) {
    var option = colours(JSON.parse(item.data.textContent), getComputedStyle(document.documentElement));
    option.animation = false;
    if (!still) { option.animation = true; option.animationDuration = 300; }
    var unit = item.data.dataset.unit === '%' ? ' %' : ' ' + item.data.dataset.unit;
    option.tooltip.valueFormatter = function (v) { return shown(v) + unit; };
    if (!item.chart) item.chart = echarts.init(item.box, null, { renderer: 'svg' });
    item.chart.setOption(option, true);
  }
  Array.prototype.forEach.call(document.querySelectorAll('script[data-chart]'), function (data) {
    var figure = document.getElementById(data.dataset.chart);
    if (!figure) return;
    var box = figure.querySelector('.plot');
    drawn.push({ data: data, box: box, figure: figure, chart: null });
  });
  function visible() {
    drawn.forEach(function (item) {
      if (item.chart) { item.chart.resize(); return; }
      if (!item.figure.offsetParent) return; // in a hidden tab: when it opens
      var fallback = item.figure.querySelector('.fallback');
      if (fallback) fallback.hidden = true;
      item.box.hidden = false;
      item.box.style.height = item.box.dataset.height + 'px';
      try { draw(item); } catch (e) { // the bars below hold the same numbers
        item.box.hidden = true;
        if (fallback) fallback.hidden = false;
        console.error('chart ' + item.data.dataset.chart + ': ' + e.message);
      }
    });
    document.documentElement.dataset.charts = String(drawn.filter(function (i) { return i.chart; }).length);
  }
  document.addEventListener('layoutchange', visible);
  document.addEventListener('themechange', function () { drawn.forEach(function (i) { if (i.chart) draw(i); }); });
  addEventListener('resize', visible);
  visible();
})();
