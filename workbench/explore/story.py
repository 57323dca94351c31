"""One message of a session, looked at closely: before and after, who took it out, and who needed it later."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.explore.outcome import Fate, Taker, fates, held, takers
from workbench.markup import marked, shown
from workbench.metrics.future import Need
from workbench.metrics.index import Index
from workbench.replay.step import CompactionEvent, Replay
from workbench.transcript.message import Message, Summary, said_texts

LONGEST, MOST_NEEDS = 6_000, 12


@dataclass(frozen=True, slots=True)
class Story:
    """What there is to say about one message.

    Attributes:
        place: its index among the session's messages.
        fate: what became of it.
        taker: who dropped or rewrote it; None if nobody did.
        after: the texts that stand in its place now.
        needs: what was needed of it later, and whether the context still holds that.
    """

    place: int
    message: Message
    tokens: int
    fate: Fate
    taker: Taker | None
    after: tuple[str, ...]
    needs: tuple[tuple[Need, bool], ...]


def story(replay: Replay, index: Index, event: CompactionEvent | None, at: int, place: int) -> Story:
    """The story of one message, as one stands before message `at` and after the compaction `event`."""
    session = replay.session
    message = session.messages[place]
    fate = fates(session, event, at)[place]
    demand = index.demand(at)
    kept, texts = held(session, event, at)
    bound = demand.retained(kept, texts).bound
    needs = tuple(
        (need, bool(there))
        for need, there in zip(demand.needs, bound, strict=True)
        if place in (need.evidence, need.said)
    )
    taker = takers(replay, event).get(message.id) if fate in ("rewritten", "dropped") else None
    after = _after(event, message, fate)
    return Story(place, message, replay.sizing.sizes[place], fate, taker, after, needs)


def _after(event: CompactionEvent | None, message: Message, fate: Fate) -> tuple[str, ...]:
    if event is None or fate not in ("rewritten", "dropped"):
        return ()
    sent = event.compaction.sent.messages
    if fate == "rewritten":
        return next((tuple(said_texts(one)) for one in sent if one.id == message.id), ())
    summaries = [one for one in sent if isinstance(one, Summary)]
    naming = [one for one in summaries if message.id in one.replaces]
    return tuple(one.text for one in naming or summaries)


def told(one: Story) -> str:
    """The story as HTML."""
    before = "\n".join(text for text in said_texts(one.message) if text.strip()) or "(nothing said)"
    name = f" ({shown(one.message.name)})" if one.message.name else ""
    head = f"<h4>Message {one.place}, said by {shown(one.message.role)}{name}, {one.tokens:,} tokens</h4>"
    return f'<div class="story">{head}<p>{_fate(one)}</p>{_texts(one, before)}{_needs(one)}</div>'


def _fate(one: Story) -> str:
    if one.fate == "later":
        return "It is still to come."
    if one.taker is None:
        words = {"pinned": "It is pinned: no strategy may touch it.", "kept": "The context holds it as it was said."}
        return words.get(one.fate, "It is not sent.")
    what = "rewrote" if one.fate == "rewritten" else "dropped"
    return f"<b>{shown(one.taker.stage)}</b> {what} it at compaction {one.taker.number + 1}."


def _texts(one: Story, before: str) -> str:
    first = f"<h4>Before</h4><pre>{shown(before, LONGEST)}</pre>"
    if one.fate not in ("rewritten", "dropped"):
        return first
    words = "After" if one.fate == "rewritten" else "What stands in its place"
    after = "".join(f"<pre>{shown(text, LONGEST)}</pre>" for text in one.after) or "<p>Nothing.</p>"
    return f'<div class="pair"><div>{first}</div><div><h4>{words}</h4>{after}</div></div>'


def _needs(one: Story) -> str:
    if not one.needs:
        return "<p>Nothing that it says is named again later.</p>"
    rows = "".join(
        f"<li><code>{shown(need.entity.text, 100)}</code> ({'still held' if there else '<b>lost</b>'}), needed by "
        f"{go('message', need.use)}: {marked(need.use_text, need.entity.text, 200)}</li>"
        for need, there in one.needs[:MOST_NEEDS]
    )
    more = len(one.needs) - MOST_NEEDS
    return f"<h4>Needed later</h4><ul>{rows}</ul>" + (f"<p>… and {more:,} more.</p>" if more > 0 else "")


def go(kind: str, number: int, words: str = "") -> str:
    """A part of a page that leads to a message or a compaction when it is clicked."""
    return f'<span class="go" data-go="{kind}:{number}" tabindex="0" role="button">{words or f"{kind} {number}"}</span>'
