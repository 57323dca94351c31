"""What the recorded agent really went on with where it compacted for real."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.replay.boundaries import worth
from workbench.replay.sizing import Sizing
from workbench.transcript.context import Context
from workbench.transcript.log import CompactionEntry, MessageEntry, fold
from workbench.transcript.message import SystemMessage
from workbench.transcript.session import Session


def recorded_contexts(session: Session, sizing: Sizing) -> Mapping[int, Context]:
    """By boundary, the context of the first request after each recorded compaction whose summary can be read.

    The system prompt stands in front, as it does in every request, also where the recording does not repeat it.
    Boundaries with too little before or after them are left out.
    """
    place = {message.id: at for at, message in enumerate(session.messages)}
    requests = iter(session.requests)
    found: dict[int, Context] = {}
    begun: CompactionEntry | None = None
    wanted = next(requests, None)
    for i, entry in enumerate(session.path):
        if isinstance(entry, CompactionEntry):
            begun = entry
        elif isinstance(entry, MessageEntry) and wanted is not None and place[entry.id] == wanted:
            if begun is not None and begun.summary is not None and worth(session, wanted):
                found[wanted] = _context(session, sizing, wanted, i)
            begun = None
            wanted = next(requests, None)
    return found


def _context(session: Session, sizing: Sizing, at: int, entries: int) -> Context:
    went_on = fold(session.path[:entries])
    there = {id(message) for message in went_on}
    prompt = [m for m in session.messages[:at] if isinstance(m, SystemMessage) and id(m) not in there]
    messages = (*prompt, *went_on)
    sizes = (
        sizing.sizes[session.place[id(message)]] if id(message) in session.place else sizing.count(message)
        for message in messages
    )
    return Context(messages, tuple(sizes), sizing.overhead, sizing.count)
