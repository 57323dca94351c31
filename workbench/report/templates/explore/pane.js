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
  // Keys in the explorer are its own: Jupyter's shortcuts would fold a heading at an arrow, or delete the cell.
  const placed = new ResizeObserver(() => {
    const area = el.closest('.jp-OutputArea');
    if (!area) return;
    area.addEventListener('focusin', (event) => { event.target.dataset.lmSuppressShortcuts = ''; });
    placed.disconnect();
  });
  placed.observe(el);
  draw();
  model.on('change:html', draw);
  el.addEventListener('click', tell);
  el.addEventListener('keydown', tell);
}
export default { render };
