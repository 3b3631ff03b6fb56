// What a report page does beyond showing: theme, tabs, copy, sort, search, "show all". Without it every part of the page is still there.
(function () {
  'use strict';
  var root = document.documentElement;
  var all = function (selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); };
  var status = document.getElementById('status');
  function say(text) { if (status) { status.textContent = ''; status.textContent = text; } }

  // Theme
  function dark() {
    return root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  }
  all('[data-act=theme]').forEach(function (button) {
    button.hidden = false;
    button.addEventListener('click', function () {
      root.dataset.theme = dark() ? 'light' : 'dark';
      try { localStorage.setItem('foreshard-theme', root.dataset.theme); } catch (e) { /* not kept */ }
      document.dispatchEvent(new Event('themechange'));
    });
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function () { document.dispatchEvent(new Event('themechange')); });

  // Copy
  function copied(button, ok) {
    var old = button.dataset.label || button.textContent;
    button.dataset.label = old;
    button.textContent = ok ? 'Copied' : 'Press Ctrl+C';
    say(ok ? 'Copied to the clipboard' : 'The text is selected');
    setTimeout(function () { button.textContent = old; }, 1600);
  }
  function select(node) {
    var range = document.createRange();
    range.selectNodeContents(node);
    var s = getSelection();
    s.removeAllRanges();
    s.addRange(range);
  }
  document.addEventListener('click', function (event) {
    var button = event.target.closest ? event.target.closest('[data-copy]') : null;
    if (!button) return;
    var node = document.getElementById(button.dataset.copy);
    if (!node) return;
    var fallback = function () {
      select(node);
      var ok = false;
      try { ok = document.execCommand('copy'); } catch (e) { ok = false; }
      copied(button, ok);
    };
    if (navigator.clipboard && isSecureContext) navigator.clipboard.writeText(node.textContent).then(function () { copied(button, true); }, fallback);
    else fallback();
  });

  // Tabs: one candidate at a time
  all('[data-tabs]').forEach(function (list) {
    var tabs = all('[role=tab]', list);
    var show = function (tab, focus) {
      tabs.forEach(function (t) {
        var on = t === tab;
        t.setAttribute('aria-selected', on ? 'true' : 'false');
        t.tabIndex = on ? 0 : -1;
        document.getElementById(t.getAttribute('aria-controls')).hidden = !on;
      });
      if (focus) tab.focus();
      document.dispatchEvent(new Event('layoutchange'));
    };
    list.hidden = false;
    tabs.forEach(function (tab, i) {
      tab.addEventListener('click', function () { show(tab); });
      tab.addEventListener('keydown', function (event) {
        var step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        show(tabs[(i + step + tabs.length) % tabs.length], true);
      });
    });
    var open = function () {
      var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      var owner = target && tabs.filter(function (t) { return document.getElementById(t.getAttribute('aria-controls')).contains(target); })[0];
      if (owner) { show(owner); target.scrollIntoView(); }
      return !!owner;
    };
    addEventListener('hashchange', open);
    if (!open()) show(tabs[0]);
  });

  // Tables: sort by a column, search, filter by readiness, show all
  all('table[data-sort]').forEach(function (table) {
    var body = table.tBodies[0];
    all('thead th[data-key]', table).forEach(function (th) {
      var button = document.createElement('button');
      button.type = 'button';
      button.className = 'sort';
      while (th.firstChild) button.appendChild(th.firstChild);
      th.appendChild(button);
      button.addEventListener('click', function () {
        var up = th.getAttribute('aria-sort') === 'descending' || (!th.hasAttribute('aria-sort') && th.dataset.key === 'text');
        all('thead th', table).forEach(function (other) { other.removeAttribute('aria-sort'); });
        th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        var at = th.cellIndex;
        var rows = all('tr', body).map(function (tr, i) { return { tr: tr, i: i, v: tr.cells[at].dataset.v || tr.cells[at].textContent.trim() }; });
        var number = th.dataset.key === 'number';
        rows.sort(function (a, b) {
          var d = number ? Number(a.v) - Number(b.v) : (a.v < b.v ? -1 : a.v > b.v ? 1 : 0);
          return (up ? d : -d) || a.i - b.i;
        });
        rows.forEach(function (r) { body.appendChild(r.tr); });
        table.dispatchEvent(new Event('refresh'));
      });
    });
  });

  all('[data-list]').forEach(function (box) {
    var table = box.querySelector('table');
    var rows = function () { return all('tbody > tr', table); };
    var search = box.querySelector('input[type=search]');
    var chips = all('[data-readiness]', box);
    var more = box.querySelector('[data-act=more]');
    var shown = box.querySelector('[data-shown]');
    var limit = Number(box.dataset.list);
    var controls = box.querySelector('.controls');
    if (controls) controls.hidden = false;
    function refresh() {
      var words = search ? search.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
      var on = chips.filter(function (c) { return c.getAttribute('aria-pressed') === 'true'; }).map(function (c) { return c.dataset.readiness; });
      var hits = 0, visible = 0;
      rows().forEach(function (tr) {
        if (tr.lowered === undefined) tr.lowered = tr.textContent.toLowerCase();
        var hit = (!on.length || on.indexOf(tr.dataset.r) >= 0) && words.every(function (w) { return tr.lowered.indexOf(w) >= 0; });
        if (hit) hits++;
        var see = hit && (!limit || visible < limit);
        if (see) visible++;
        tr.hidden = !see;
      });
      more.hidden = visible === hits;
      more.textContent = 'Show all ' + hits.toLocaleString('en');
      shown.textContent = visible.toLocaleString('en') + ' of ' + rows().length.toLocaleString('en') + ' templates';
    }
    var wait = 0;
    if (search) search.addEventListener('input', function () { clearTimeout(wait); wait = setTimeout(refresh, 80); });
    chips.forEach(function (chip) {
      chip.addEventListener('click', function () {
        chip.setAttribute('aria-pressed', chip.getAttribute('aria-pressed') === 'true' ? 'false' : 'true');
        refresh();
      });
    });
    more.addEventListener('click', function () { limit = 0; refresh(); });
    table.addEventListener('refresh', refresh);
    box.addEventListener('reveal', function () {
      limit = 0;
      if (search) search.value = '';
      chips.forEach(function (c) { c.setAttribute('aria-pressed', 'false'); });
      refresh();
    });
    addEventListener('beforeprint', function () { var keep = limit; limit = 0; refresh(); limit = keep; });
    addEventListener('afterprint', refresh);
    refresh();
  });

  // A link to a template opens it, whatever the table hides now.
  function reveal() {
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || target.tagName !== 'TR') return;
    if (target.hidden) target.closest('[data-list]').dispatchEvent(new Event('reveal'));
    var details = target.querySelector('details');
    if (details) details.open = true;
    target.scrollIntoView({ block: 'center' });
  }
  addEventListener('hashchange', reveal);
  reveal();

  document.addEventListener('keydown', function (event) {
    if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    var box = all('input[type=search]').filter(function (i) { return i.offsetParent; })[0];
    if (box) { event.preventDefault(); box.focus(); }
  });
})();
