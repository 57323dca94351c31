"""The explorer's panels as HTML strings. Session text is data: all of it is escaped here."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.compaction.engine import StageRecord
from workbench.explore.fate import FATE_WORDS, Fate, Missed, Missing, fates, written
from workbench.explore.timeline import FATES, strip
from workbench.markup import marked, shown
from workbench.replay.step import Firing, Replay
from workbench.transcript.message import Message, said_texts

MOST_ROWS, MOST_LOST, MOST_SUMMARY = 160, 40, 8_000

STYLE = """<style>
.wb-x{font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;color:var(--jp-ui-font-color1,#1f2328)}
.wb-x svg{display:block;width:100%;max-width:1100px}
.wb-x h4{margin:1em 0 .3em;font-size:1em}
.wb-x table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.wb-x td,.wb-x th{padding:.2em .6em;text-align:left;vertical-align:top;border-bottom:1px solid #8a8f9855}
.wb-x td.n,.wb-x th.n{text-align:right}
.wb-x .muted,.wb-x small{color:var(--jp-ui-font-color2,#59636e)}
.wb-x i.key{display:inline-block;width:.8em;height:.8em;margin:0 .35em 0 0;border:1px solid #8a8f98;border-radius:2px}
.wb-x .keys span{margin-right:1.2em;white-space:nowrap}
.wb-x .rows{max-height:24em;overflow:auto;border:1px solid #8a8f9855;border-radius:4px}
.wb-x .rows table{width:100%}
.wb-x .rows td.text{overflow-wrap:anywhere}
.wb-x tr.dropped td.text{text-decoration:line-through;opacity:.65}
.wb-x pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8a8f981a;padding:.6em .8em;border-radius:4px}
.wb-x pre{max-height:24em;overflow:auto}
.wb-x mark{background:#ffd54a88;color:inherit}
</style>"""


def headline(replay: Replay) -> str:
    """What this replay comes to, in a sentence."""
    sent = sum(step.tokens_sent for step in replay.steps)
    recorded = sum(step.tokens_recorded for step in replay.steps)
    if not replay.firings:
        return (
            f"<p><b>{shown(replay.preset)}</b> never compacts here: the session stays below its trigger. "
            "Make the window smaller, or the threshold lower.</p>"
        )
    saved = 1 - sent / recorded if recorded else 0.0
    times = "once" if len(replay.firings) == 1 else f"{len(replay.firings)} times"
    fewer = f"{100 * saved:.0f} % fewer" if saved >= 0 else f"{-100 * saved:.0f} % more"
    return f"<p><b>{shown(replay.preset)}</b> compacts {times} and sends {fewer} tokens than an uncompacted agent.</p>"


def keys() -> str:
    """What the colours mean."""
    spans = (f'<span><i class="key" style="background:{FATES[f]}"></i>{word}</span>' for f, word in FATE_WORDS.items())
    return f'<p class="keys muted">{"".join(spans)}</p>'


def message_list(replay: Replay, firing: Firing | None) -> str:
    """All messages as a strip, and the ones around the boundary as rows."""
    session, sizes = replay.session, replay.sizing.sizes
    found = fates(session, firing)
    until = len(found) if firing is None else firing.at
    chosen = _chosen(found, until)
    rows, before = [], -1
    for at in chosen:
        if at != before + 1:
            rows.append(f'<tr><td colspan="5" class="muted">… {at - before - 1:,} more …</td></tr>')
        rows.append(_row(at, session.messages[at], found[at], sizes[at]))
        before = at
    head = '<tr><th class="n">#</th><th>who</th><th>what became of it</th><th class="n">tokens</th><th>text</th></tr>'
    return f'{strip(found, sizes)}{keys()}<div class="rows" tabindex="0"><table>{head}{"".join(rows)}</table></div>'


def _chosen(found: Sequence[Fate], until: int) -> list[int]:
    """The messages to show: those before the boundary that stay or were rewritten, newest first, then some dropped."""
    few = MOST_ROWS // 4
    after = list(range(until, min(len(found), until + few)))
    told = [at for at in range(until) if found[at] in ("pinned", "rewritten", "kept")][-2 * few :]
    gone = [at for at in range(until) if found[at] == "dropped"][-few:]
    return sorted({*told, *gone, *after})


def _row(at: int, message: Message, fate: Fate, size: int) -> str:
    text = next((text for text in said_texts(message) if text.strip()), "(nothing said)")
    key = f'<i class="key" style="background:{FATES[fate]}"></i>{FATE_WORDS[fate]}'
    cells = f'<td class="n">{at}</td><td>{shown(message.role)}</td><td>{key}</td><td class="n">{size:,}</td>'
    return f'<tr class="{fate}">{cells}<td class="text">{shown(" ".join(text[:1000].split()), 150)}</td></tr>'


def before_and_after(firing: Firing) -> str:
    """What one compaction did: sizes, stages, and the text that it wrote."""
    done = firing.compaction
    head = (
        f"<p>Before message {firing.at}: <b>{done.before.tokens:,} → {done.sent.tokens:,} tokens</b> "
        f"(target {done.budget.target:,}), {len(done.before.messages):,} → {len(done.sent.messages):,} messages.</p>"
    )
    rows = "".join(
        f"<tr><td>{shown(stage.name)}</td>{_numbers(stage)}<td>{'' if stage.used else 'broke a rule'}</td></tr>"
        for stage in done.stages
    )
    titles = ("stage", "tokens before", "after", "dropped", "rewritten", "")
    table = f"<table><tr>{''.join(f'<th>{title}</th>' for title in titles)}</tr>{rows}</table>"
    new = (f"<h4>Written in their place</h4><pre>{shown(one.text, MOST_SUMMARY)}</pre>" for one in written(firing))
    return head + (table if rows else "") + "".join(new)


def _numbers(stage: StageRecord) -> str:
    numbers = (stage.tokens_before, stage.tokens_after, len(stage.dropped), len(stage.rewritten))
    return "".join(f'<td class="n">{number:,}</td>' for number in numbers)


def lost(found: Missing) -> str:
    """What was lost and needed later."""
    if not found.needed:
        return "<p>Nothing from before this point is named again later, so nothing could be missed.</p>"
    held = found.needed - len(found.missed)
    head = (
        f"<p>Of {found.needed:,} things that are needed later, <b>{held:,}</b> are still held with their context.</p>"
    )
    if not found.missed:
        return head
    rows = "".join(_missed(one) for one in found.missed[:MOST_LOST])
    more = len(found.missed) - MOST_LOST
    rest = f'<p class="muted">… and {more:,} more.</p>' if more > 0 else ""
    titles = '<th>lost</th><th>kind</th><th class="n">said in</th><th class="n">needed in</th><th>how</th>'
    return f'{head}<div class="rows" tabindex="0"><table><tr>{titles}</tr>{rows}</table></div>{rest}'


def _missed(one: Missed) -> str:
    need = one.need
    evidence, use = (marked(text, need.atom.text) for text in (need.evidence_text, need.use_text))
    story = (
        f"<p><small>said by {shown(need.said_by)}, message {need.evidence}:</small><br>{evidence}</p>"
        f"<p><small>needed by message {need.use}:</small><br>{use}</p>"
    )
    how = "named, but without its context" if one.named else "gone"
    stage = f" <small>({shown(one.stage)})</small>" if one.stage else ""
    places = f'<td class="n">{need.evidence}</td><td class="n">{need.use}</td>'
    return (
        f"<tr><td><details><summary><code>{shown(need.atom.text, 100)}</code></summary>{story}</details></td>"
        f"<td>{shown(need.atom.kind)}</td>{places}<td>{how}{stage}</td></tr>"
    )
