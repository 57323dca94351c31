"""HTML that a person can point at: a click, or Enter, on a part that says where it leads is heard."""

from __future__ import annotations

import anywidget
import traitlets

SCRIPT = """
function render({ model, el }) {
  const draw = () => {
    const kept = document.activeElement, rows = el.querySelector('.rows');
    const place = kept && el.contains(kept) ? kept.dataset.go : null, top = rows ? rows.scrollTop : 0;
    el.innerHTML = model.get('html');
    const now = el.querySelector('.rows');
    if (now) now.scrollTop = top;
    if (place) el.querySelector(`[data-go="${place}"]`)?.focus();
  };
  const tell = (event) => {
    const part = event.target.closest('[data-go]');
    if (!part || !el.contains(part)) return;
    if (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    model.send({ go: part.dataset.go });
  };
  draw();
  model.on('change:html', draw);
  el.addEventListener('click', tell);
  el.addEventListener('keydown', tell);
}
export default { render };
"""


class Pane(anywidget.AnyWidget):
    """A piece of HTML whose parts may carry `data-go`: where a click on them leads."""

    _esm = SCRIPT
    html = traitlets.Unicode("").tag(sync=True)
