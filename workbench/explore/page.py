"""The explorer's panels as HTML strings. Session text is data: all of it is escaped here."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.compaction.engine import StageRecord
from workbench.explore.outcome import FATE_WORDS, Fate, Missed, Missing, fates, written
from workbench.explore.story import go
from workbench.explore.timeline import FATES, strip
from workbench.markup import marked, shown
from workbench.replay.step import CompactionEvent, Replay
from workbench.transcript.message import Message, said_texts

MOST_ROWS, MOST_LOST, MOST_SUMMARY = 160, 40, 8_000

STYLE = """<style>
.wb-x{font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;color:var(--jp-ui-font-color1,inherit)}
.wb-x svg{display:block;width:100%;max-width:1100px}
.wb-x h4{margin:1em 0 .3em;font-size:1em}
.wb-x table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.wb-x td,.wb-x th{padding:.2em .6em;text-align:left;vertical-align:top;border-bottom:1px solid #8a8f9855}
.wb-x td.n,.wb-x th.n{text-align:right}
.wb-x .muted,.wb-x small{color:var(--jp-ui-font-color2,inherit)}
.wb-x i.key{display:inline-block;width:.8em;height:.8em;margin:0 .35em 0 0;border:1px solid #8a8f98;border-radius:2px}
.wb-x .keys span{margin-right:1.2em;white-space:nowrap}
.wb-x .rows{max-height:24em;overflow:auto;border:1px solid #8a8f9855;border-radius:4px}
.wb-x .rows table{width:100%}
.wb-x .rows td.text{overflow-wrap:anywhere}
.wb-x tr.dropped td.text{text-decoration:line-through;opacity:.65}
.wb-x pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8a8f981a;padding:.6em .8em;border-radius:4px}
.wb-x pre{max-height:24em;overflow:auto;word-break:normal}
.wb-x mark{background:#ffd54a44;color:inherit;border-bottom:2px solid #e69f00}
.wb-x .go{cursor:pointer}
.wb-x summary{display:list-item;cursor:pointer}
.wb-x span.go,.wb-x tr.go:hover td.text{text-decoration:underline dotted}
.wb-x .go:focus-visible{outline:2px solid #e69f00;outline-offset:1px}
.wb-x tr.here td{background:#e69f0033}
.wb-x .story{border-left:4px solid #e69f00;padding:0 .9em;margin:.6em 0}
.wb-x .pair{display:flex;gap:1em;flex-wrap:wrap}
.wb-x .pair>div{flex:1 1 22em;min-width:0}
</style>"""


def headline(replay: Replay) -> str:
    """What this replay comes to, in a sentence."""
    sent = sum(step.tokens_sent for step in replay.steps)
    recorded = sum(step.tokens_recorded for step in replay.steps)
    if not replay.events:
        return (
            f"<p><b>{shown(replay.preset)}</b> never compacts here: the session stays below its trigger. "
            "Make the window smaller, or the threshold lower.</p>"
        )
    saved = 1 - sent / recorded if recorded else 0.0
    times = "once" if len(replay.events) == 1 else f"{len(replay.events)} times"
    fewer = f"{100 * saved:.0f} % fewer" if saved >= 0 else f"{-100 * saved:.0f} % more"
    return f"<p><b>{shown(replay.preset)}</b> compacts {times} and sends {fewer} tokens than an uncompacted agent.</p>"


def keys() -> str:
    """What the colours mean."""
    spans = (f'<span><i class="key" style="background:{FATES[f]}"></i>{word}</span>' for f, word in FATE_WORDS.items())
    return f'<p class="keys muted">{"".join(spans)}</p>'


def so_far(done: int, whole: int) -> str:
    """That the replay is still on its way."""
    return f'<p class="muted" role="status">So far {done:,} of {whole:,} messages are replayed …</p>'


def message_list(replay: Replay, event: CompactionEvent | None, at: int, message: int | None = None) -> str:
    """All messages as a strip, and the ones around one place as rows.

    Args:
        replay: of n messages.
        event: the newest compaction before that place.
        at: the place, in [0, n].
        message: one that is looked at, and so is among the rows.
    """
    session, sizes = replay.session, replay.sizing.sizes
    found = fates(session, event, at)
    chosen = sorted({*_chosen(found, at), *([] if message is None else [message])})
    rows, before = [], -1
    for place in chosen:
        if place != before + 1:
            rows.append(f'<tr><td colspan="5" class="muted">… {place - before - 1:,} more …</td></tr>')
        rows.append(_row(place, session.messages[place], found[place], sizes[place], place == message))
        before = place
    head = '<tr><th class="n">#</th><th>who</th><th>what became of it</th><th class="n">tokens</th><th>text</th></tr>'
    return f'{strip(found, sizes)}{keys()}<div class="rows" tabindex="0"><table>{head}{"".join(rows)}</table></div>'


def _chosen(found: Sequence[Fate], until: int) -> list[int]:
    """The messages to show: those before the boundary that stay or were rewritten, newest first, then some dropped."""
    few = MOST_ROWS // 4
    after = list(range(until, min(len(found), until + few)))
    told = [at for at in range(until) if found[at] in ("pinned", "rewritten", "kept")][-2 * few :]
    gone = [at for at in range(until) if found[at] == "dropped"][-few:]
    return sorted({*told, *gone, *after})


def _row(at: int, message: Message, fate: Fate, size: int, here: bool) -> str:
    text = next((text for text in said_texts(message) if text.strip()), "(nothing said)")
    key = f'<i class="key" style="background:{FATES[fate]}"></i>{FATE_WORDS[fate]}'
    number, words = go("message", at, str(at)), shown(" ".join(text[:1000].split()), 150)
    cells = f'<td class="n">{number}</td><td>{shown(message.role)}</td><td>{key}</td><td class="n">{size:,}</td>'
    look = f"{fate} go{' here' * here}"
    return f'<tr class="{look}" data-go="message:{at}">{cells}<td class="text">{words}</td></tr>'


def before_and_after(event: CompactionEvent) -> str:
    """What one compaction did: sizes, stages, and the text that it wrote."""
    done = event.compaction
    head = (
        f"<p>Before message {event.at}: <b>{done.before.tokens:,} → {done.sent.tokens:,} tokens</b> "
        f"(target {done.budget.target:,}), {len(done.before.messages):,} → {len(done.sent.messages):,} messages.</p>"
    )
    rows = "".join(
        f"<tr><td>{shown(stage.name)}</td>{_numbers(stage)}<td>{'' if stage.used else 'broke a rule'}</td></tr>"
        for stage in done.stages
    )
    titles = ("stage", "tokens before", "after", "dropped", "rewritten", "")
    table = f"<table><tr>{''.join(f'<th>{title}</th>' for title in titles)}</tr>{rows}</table>"
    new = (f"<h4>Written in their place</h4><pre>{shown(one.text, MOST_SUMMARY)}</pre>" for one in written(event))
    return head + (table if rows else "") + "".join(new)


def _numbers(stage: StageRecord) -> str:
    numbers = (stage.tokens_before, stage.tokens_after, len(stage.dropped), len(stage.rewritten))
    return "".join(f'<td class="n">{number:,}</td>' for number in numbers)


def side_by_side(rows: Sequence[tuple[Replay, Missing]], at: int) -> str:
    """Two strategies in figures: each with what it lacks before message `at` of what is needed afterwards."""
    titles = ("strategy", "compactions", "tokens sent", "saved", "largest request", "held of what is needed later")
    head = "".join(f"<th>{title}</th>" for title in titles)
    lines = "".join(_figures(replay, found) for replay, found in rows)
    words = f"<p>What is held is counted before message {at}, for both alike.</p>"
    return f"<table><tr>{head}</tr>{lines}</table>{words}{_only(*rows) if len(rows) == 2 else ''}"


def _figures(replay: Replay, found: Missing) -> str:
    sent, recorded = sum(s.tokens_sent for s in replay.steps), sum(s.tokens_recorded for s in replay.steps)
    largest = max((step.tokens_sent for step in replay.steps), default=0)
    held = "-" if found.held is None else f"{100 * found.held:.0f} % of {found.needed:,}"
    saved = f"{100 * (1 - sent / recorded):.0f} %" if recorded else "-"
    cells = "".join(
        f'<td class="n">{cell}</td>' for cell in (len(replay.events), f"{sent:,}", saved, f"{largest:,}", held)
    )
    return f"<tr><td>{shown(replay.preset)}</td>{cells}</tr>"


def _only(one: tuple[Replay, Missing], other: tuple[Replay, Missing]) -> str:
    """What the one lost and the other holds, and the other way round."""
    lost_here, lost_there = ({missed.need.entity: missed for missed in found.missed} for _, found in (one, other))
    parts = []
    for replay, own, theirs in ((one[0], lost_here, lost_there), (other[0], lost_there, lost_here)):
        alone = [missed for entity, missed in own.items() if entity not in theirs]
        head = f"<h4>Lost by {shown(replay.preset)} alone ({len(alone):,})</h4>"
        parts.append(f"<div>{head}{_lost_table(alone) if alone else '<p>Nothing.</p>'}</div>")
    return f'<div class="pair">{"".join(parts)}</div>'


def lost(found: Missing) -> str:
    """What was lost and needed later."""
    if not found.needed:
        return "<p>Nothing from before this point is named again later, so nothing could be missed.</p>"
    held = found.needed - len(found.missed)
    head = (
        f"<p>Of {found.needed:,} things that are needed later, <b>{held:,}</b> are still held with their context.</p>"
    )
    return head + (_lost_table(found.missed) if found.missed else "")


def _lost_table(missed: Sequence[Missed]) -> str:
    rows = "".join(_missed(one) for one in missed[:MOST_LOST])
    more = len(missed) - MOST_LOST
    rest = f'<p class="muted">… and {more:,} more.</p>' if more > 0 else ""
    titles = '<th>lost</th><th>kind</th><th class="n">said in</th><th class="n">needed in</th><th>how</th>'
    return f'<div class="rows" tabindex="0"><table><tr>{titles}</tr>{rows}</table></div>{rest}'


def _missed(one: Missed) -> str:
    need = one.need
    evidence, use = (marked(text, need.entity.text) for text in (need.evidence_text, need.use_text))
    story = (
        f"<p><small>said by {shown(need.said_by)}, message {need.evidence}:</small><br>{evidence}</p>"
        f"<p><small>needed by message {need.use}:</small><br>{use}</p>"
    )
    how = "named, but without its context" if one.named else "gone"
    stage = f" <small>({shown(one.stage)})</small>" if one.stage else ""
    said, used = (go("message", at, str(at)) for at in (need.evidence, need.use))
    places = f'<td class="n">{said}</td><td class="n">{used}</td>'
    return (
        f"<tr><td><details><summary><code>{shown(need.entity.text, 100)}</code></summary>{story}</details></td>"
        f"<td>{shown(need.entity.kind)}</td>{places}<td>{how}{stage}</td></tr>"
    )
