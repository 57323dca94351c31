(function () {
  "use strict";
  var told = document.getElementById("told"), turn = 0, changes = 0;
  function tell(words) { told.textContent = words; }
  function wire() {
    document.querySelectorAll("[data-copy], [data-copy-address]").forEach(function (button) { button.hidden = false; });
  }
  // Puts the page of another address in the place of this one; a later call wins over an earlier one.
  function load(address, keep) {
    var mine = ++turn, focused = document.activeElement, name = focused && (focused.id || focused.name);
    return fetch(address).then(function (answer) { return answer.text(); }).then(function (text) {
      if (mine !== turn) return;
      var page = new DOMParser().parseFromString(text, "text/html"), main = document.getElementById("main");
      main.replaceWith(document.importNode(page.getElementById("main"), true));
      document.title = page.title;
      if (keep) history.replaceState(null, "", address);
      wire();
      var again = name && (document.getElementById(name) || document.querySelector("main [name='" + CSS.escape(name) + "']"));
      if (again) again.focus({preventScroll: true});
    });
  }
  document.addEventListener("input", function (event) {
    var field = event.target;
    if (field.type !== "range") return;
    field.parentNode.querySelector("output").textContent = field.value + " of " + field.max;
    var form = field.form, value = field.value;
    setTimeout(function () {
      if (field.value !== value || !field.isConnected) return;
      load(location.pathname + "?" + new URLSearchParams(new FormData(form)), true).then(function () { tell("Request " + value + " is shown."); });
    }, 150);
  });
  document.addEventListener("click", function (event) {
    var link = event.target.closest("a[data-in-place]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    load(link.href, true).then(function () { tell(link.textContent.trim() + (link.closest("th") ? ": sorted." : ": done.")); });
  });
  // Changes what is kept of a run. The server takes them from these pages alone.
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (!form.hasAttribute("data-post")) return;
    event.preventDefault();
    if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) return;
    var fields = Object.fromEntries(new FormData(form, event.submitter));
    changes += 1;
    fetch(form.action, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(fields)})
      .then(function (answer) {
        return answer.json().then(function (outcome) {
          if (!answer.ok) return tell(outcome.told);
          return load(outcome.go || location.href, true).then(function () { tell(outcome.told); });
        });
      }).catch(function () { tell("The view has ended; start `workbench view` again."); })
      .finally(function () { changes -= 1; });
  });
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    var button = document.querySelector("[data-key='" + CSS.escape(event.key) + "']");
    if (button) { event.preventDefault(); button.click(); }
  });
  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-copy], [data-copy-address]");
    if (!button) return;
    var text = button.dataset.copy ? document.getElementById(button.dataset.copy).textContent : location.href;
    navigator.clipboard.writeText(text).then(function () { tell("Copied."); }, function () { tell("The browser did not allow copying."); });
  });
  // A framed report asks for the contexts of a loss; it can ask for nothing else, and only where a person just clicked.
  window.addEventListener("message", function (event) {
    var frame = document.querySelector("iframe.report"), loss = event.data && event.data.loss;
    if (!frame || event.source !== frame.contentWindow || typeof loss !== "string" || !/^[\w-]{1,80}$/.test(loss)) return;
    if (navigator.userActivation && !navigator.userActivation.isActive) return;
    location.assign(frame.dataset.losses + loss);
  });
  // Every two seconds: has a run changed? Nothing happens in silence, neither news nor the end of the server.
  setInterval(function () {
    var main = document.getElementById("main");
    if (document.hidden || changes || !main.dataset.state) return;
    fetch(main.dataset.state).then(function (answer) { return answer.json(); }).then(function (now) {
      // While a change of this page's own is under way, the news may be that change.
      if (changes || now.stamp === document.getElementById("main").dataset.stamp) return;
      load(location.href).then(function () { tell(now.words); });
    }).catch(function () { tell("The view has ended; start `workbench view` again."); });
  }, 2000);
  wire();
  var framed = document.querySelector("iframe.report");
  if (framed) { framed.focus(); framed.addEventListener("load", function () { framed.focus(); }); }
  if (location.hash) { var at = document.querySelector(location.hash); if (at) at.focus({preventScroll: true}); }
})();
