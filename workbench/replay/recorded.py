"""The contexts that the recorded agent went on with after its own compactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.replay.boundaries import worth
from workbench.replay.sizing import Sizing
from workbench.transcript.context import Context
from workbench.transcript.log import CompactionEntry, Entry, MessageEntry, fold
from workbench.transcript.message import SystemMessage
from workbench.transcript.session import Session


@dataclass(frozen=True, slots=True)
class RecordedContexts:
    """A recorded compaction, seen from the first request after it.

    Attributes:
        before: what that request would have sent without it: an earlier summary, if there was one, and what came since.
        after: what it did send.
    """

    before: Context
    after: Context


def recorded_contexts(session: Session, sizing: Sizing) -> Mapping[int, RecordedContexts]:
    """By boundary, each recorded compaction whose summary can be read, at the first request after it.

    The system prompt comes first, as in every request, also where the recording does not repeat it. Boundaries with too
    little before or after them are left out.
    """
    requests = iter(session.requests)
    found: dict[int, RecordedContexts] = {}
    wanted = next(requests, None)
    last: CompactionEntry | None = None
    for i, entry in enumerate(session.path):
        if isinstance(entry, CompactionEntry):
            last = entry
        elif isinstance(entry, MessageEntry) and wanted is not None and entry.message is session.messages[wanted]:
            if last is not None and last.summary is not None and worth(session, wanted):
                path = session.path[:i]
                without = [one for one in path if one is not last]
                found[wanted] = RecordedContexts(_context(session, sizing, without), _context(session, sizing, path))
            last, wanted = None, next(requests, None)
    return found


def _context(session: Session, sizing: Sizing, path: Sequence[Entry]) -> Context:
    """What would be sent at the end of this path."""
    went_on = fold(path)
    there = {id(message) for message in went_on}
    prompt = [m for m in session.messages[:1] if isinstance(m, SystemMessage) and id(m) not in there]
    messages = (*prompt, *went_on)
    sizes = (
        sizing.sizes[session.place[id(message)]] if id(message) in session.place else sizing.count(message)
        for message in messages
    )
    return Context(messages, tuple(sizes), sizing.overhead, sizing.count)
