(function () {
  "use strict";
  var FEW = 15;
  function make(tag, text) { var e = document.createElement(tag); if (text) e.textContent = text; return e; }
  function worth(cell) { var t = cell.textContent.trim(), n = parseFloat(t.replace(/[, ]/g, "")); return cell.classList.contains("n") ? (isNaN(n) ? -Infinity : n) : t.toLowerCase(); }
  document.querySelectorAll("table.losses, table.sessions").forEach(function (table) {
    var body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach(function (head, i) {
      var button = make("button", head.textContent);
      button.type = "button"; head.textContent = ""; head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") === "ascending", turn = down ? -1 : 1;
        heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        Array.from(body.rows).sort(function (a, b) {
          var x = worth(a.cells[i]), y = worth(b.cells[i]);
          return x < y ? -turn : x > y ? turn : 0;
        }).forEach(function (r) { body.appendChild(r); });
        table.dispatchEvent(new Event("sorted"));
      });
    });
  });
  document.querySelectorAll("table.losses").forEach(function (table) {
    var rows = Array.from(table.tBodies[0].rows), tools = make("div"), shown = make("span");
    tools.className = "tools"; shown.className = "note"; shown.setAttribute("role", "status");
    function names(read) { return Array.from(new Set([].concat.apply([], rows.map(read)))).sort(); }
    function picker(title, values) {
      var label = make("label", title), select = make("select");
      select.appendChild(new Option("all", ""));
      values.forEach(function (v) { select.appendChild(new Option(v, v)); });
      label.appendChild(select); tools.appendChild(label); select.addEventListener("change", filter);
      return select;
    }
    function losers(r) { return r.dataset.lostBy.split(" "); }
    function titled() {
      var label = make("label", "Session"), select = make("select"), seen = {};
      select.appendChild(new Option("all", ""));
      rows.forEach(function (r) {
        var id = r.dataset.session;
        if (!seen["s" + id]) { seen["s" + id] = 1; select.appendChild(new Option(r.cells[r.cells.length - 1].textContent, id)); }
      });
      label.appendChild(select); tools.appendChild(label); select.addEventListener("change", filter);
      return select;
    }
    var label = make("label", "Search"), words = make("input"); words.type = "search";
    label.appendChild(words); tools.appendChild(label); words.addEventListener("input", filter);
    var by = picker("Lost by", names(losers)), kind = picker("Kind", names(function (r) { return [r.dataset.kind]; })), session = titled();
    var more = make("button"), all = rows.length <= FEW;
    more.type = "button"; more.className = "more";
    more.addEventListener("click", function () { all = true; filter(); });
    function filter() {
      var left = 0, fitting = 0, text = words.value.toLowerCase();
      rows.forEach(function (r) {
        var fits = (!by.value || losers(r).indexOf(by.value) >= 0) && (!kind.value || r.dataset.kind === kind.value) && (!session.value || r.dataset.session === session.value) && (!text || r.textContent.toLowerCase().indexOf(text) >= 0);
        fitting += fits ? 1 : 0;
        r.hidden = !fits || (!all && fitting > FEW); left += r.hidden ? 0 : 1;
      });
      shown.textContent = fitting ? left + " of " + rows.length + " shown" : "none of these " + rows.length + " losses fits";
      more.hidden = left === fitting; more.textContent = "Show all " + fitting;
    }
    function choose(select, value) {
      var known = Array.from(select.options).some(function (o) { return o.value === value; });
      if (value && !known) select.appendChild(new Option(value, value));
      select.value = value || "";
    }
    document.querySelectorAll("a.into").forEach(function (into) {
      into.addEventListener("click", function (event) {
        event.preventDefault();
        choose(by, into.dataset.showBy); choose(kind, into.dataset.showKind); choose(session, into.dataset.showSession);
        words.value = ""; all = false; filter();
        document.getElementById("losses").scrollIntoView();
        by.focus({ preventScroll: true });
      });
    });
    tools.appendChild(shown); table.parentNode.insertBefore(more, table.nextSibling);
    table.addEventListener("sorted", function () { rows = Array.from(table.tBodies[0].rows); filter(); });
    table.parentNode.parentNode.insertBefore(tools, table.parentNode); filter();
  });
  // The contexts of a session: all its pictures are looked at together, by pointer or by keys.
  document.querySelectorAll("details.contexts").forEach(function (session) {
    var first = +session.dataset.first, last = +session.dataset.last, from = first, to = last, at = null, start = null, pointer = null;
    var tools = make("div"), here = make("p");
    tools.className = "zoom"; here.className = "note here"; here.setAttribute("role", "status");
    var panels = Array.from(session.querySelectorAll("figure.panel")).map(function (figure) {
      var svg = figure.querySelector("svg"), box = svg.viewBox.baseVal, cursor = document.createElementNS(svg.namespaceURI, "line");
      function pairs(line) { return line.getAttribute("points").trim().split(/\s+/).map(function (pair) { return pair.split(",").map(Number); }); }
      cursor.setAttribute("y1", -box.height); cursor.setAttribute("y2", 0); cursor.setAttribute("stroke", "currentColor");
      cursor.setAttribute("vector-effect", "non-scaling-stroke"); svg.appendChild(cursor);
      svg.tabIndex = 0;
      return { name: figure.dataset.strategy, svg: svg, cursor: cursor, top: box.height, ends: figure.querySelectorAll(".ends span"),
        sent: pairs(svg.querySelector("polyline")), whole: pairs(svg.querySelector("polygon")).slice(1, -1) };
    });
    function nearest(points, x) { return points.reduce(function (best, one) { return Math.abs(one[0] - x) < Math.abs(best[0] - x) ? one : best; }); }
    function look(x) {
      at = Math.max(from, Math.min(to, Math.round(x)));
      panels.forEach(function (panel) { panel.cursor.setAttribute("x1", at); panel.cursor.setAttribute("x2", at); });
      here.textContent = "Request " + at + ": " + nearest(panels[0].whole, at)[1].toLocaleString("en") + " tokens without compaction; " +
        panels.map(function (panel) { return panel.name + " " + nearest(panel.sent, at)[1].toLocaleString("en"); }).join(", ");
    }
    function zoom(low, high) {
      var least = Math.min(4, last - first), width = Math.max(least, Math.min(last - first, Math.round(high - low)));
      from = Math.max(first, Math.min(last - width, Math.round(low))); to = from + width;
      panels.forEach(function (panel) {
        panel.svg.setAttribute("viewBox", [from, -panel.top, to - from, panel.top].join(" "));
        panel.ends[0].textContent = "request " + from; panel.ends[1].textContent = to;
      });
    }
    function closer(by) { var middle = at === null ? (from + to) / 2 : at, half = by * (to - from) / 2; zoom(middle - half, middle + half); }
    [["Closer", function () { closer(0.5); }], ["Wider", function () { closer(2); }], ["Whole session", function () { zoom(first, last); }]].forEach(function (does) {
      var button = make("button", does[0]);
      button.type = "button"; button.className = "more"; button.addEventListener("click", does[1]); tools.appendChild(button);
    });
    panels.forEach(function (panel) {
      function place(event) { var r = panel.svg.getBoundingClientRect(); return from + (to - from) * (event.clientX - r.left) / r.width; }
      // A browser also sends this event when the page scrolls under a pointer that rests. That must not undo an arrow key.
      panel.svg.addEventListener("pointermove", function (event) {
        var spot = event.screenX + "," + event.screenY, rests = event.movementX === 0 && event.movementY === 0;
        if (pointer === null || (spot !== pointer && !rests)) look(place(event));
        pointer = spot;
      });
      panel.svg.addEventListener("pointerdown", function (event) { start = place(event); });
      panel.svg.addEventListener("pointerup", function (event) {
        var end = place(event);
        if (start !== null && Math.abs(end - start) > (to - from) / 50) zoom(Math.min(start, end), Math.max(start, end));
        start = null;
      });
      panel.svg.addEventListener("dblclick", function () { zoom(first, last); });
      panel.svg.addEventListener("keydown", function (event) {
        var keys = { ArrowLeft: function () { look((at === null ? from : at) - 1); }, ArrowRight: function () { look((at === null ? from - 1 : at) + 1); },
          "+": function () { closer(0.5); }, "-": function () { closer(2); }, Escape: function () { zoom(first, last); } };
        if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
      });
    });
    session.querySelector(".panels").before(tools, here);
  });
  // `workbench view` marks the page that it frames: each loss then leads to the contexts that held it and did not. The
  // page around the frame opens them, since this one may open nothing.
  if (document.documentElement.dataset.view !== undefined) document.querySelectorAll("[data-loss]").forEach(function (place) {
    var link = make("a", "Both contexts, message by message");
    link.href = "#";
    link.addEventListener("click", function (event) { event.preventDefault(); parent.postMessage({ loss: place.dataset.loss }, "*"); });
    place.replaceChildren(link);
  });
})();
