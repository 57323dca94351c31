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
class Really:
    """A recorded compaction, seen from the first request after it.

    Attributes:
        before: what that request would have sent without it: an earlier summary, if there was one, and what came since.
        after: what it did send.
    """

    before: Context
    after: Context


def recorded_contexts(session: Session, sizing: Sizing) -> Mapping[int, Really]:
    """By boundary, each recorded compaction whose summary can be read, at the first request after it.

    The system prompt stands in front, as it does in every request, also where the recording does not repeat it.
    Boundaries with too little before or after them are left out.
    """
    if not session.recorded:
        return {}
    requests = iter(session.requests)
    found: dict[int, Really] = {}
    begun: int | None = None
    wanted = next(requests, None)
    for i, entry in enumerate(session.path):
        if isinstance(entry, CompactionEntry):
            begun = i
        elif isinstance(entry, MessageEntry) and wanted is not None and entry.message is session.messages[wanted]:
            if begun is not None and _readable(session.path[begun]) and worth(session, wanted):
                path = session.path[:i]
                without = (*path[:begun], *path[begun + 1 :])
                found[wanted] = Really(_context(session, sizing, without), _context(session, sizing, path))
            begun = None
            wanted = next(requests, None)
    return found


def _readable(entry: Entry) -> bool:
    return isinstance(entry, CompactionEntry) and entry.summary is not None


def _from_last(path: Sequence[Entry]) -> Sequence[Entry]:
    """The path from its last compaction on, if that kept nothing of what came before: all else is gone anyway."""
    last = next((i for i in range(len(path) - 1, -1, -1) if isinstance(path[i], CompactionEntry)), 0)
    entry = path[last] if path else None
    kept_nothing = isinstance(entry, CompactionEntry) and entry.kept is None and entry.first_kept is None
    return path[last:] if kept_nothing else path


def _context(session: Session, sizing: Sizing, path: Sequence[Entry]) -> Context:
    """What would be sent at the end of this path."""
    went_on = fold(_from_last(path))
    there = {id(message) for message in went_on}
    prompt = [m for m in session.messages[:1] if isinstance(m, SystemMessage) and id(m) not in there]
    messages = (*prompt, *went_on)
    sizes = (
        sizing.sizes[session.place[id(message)]] if id(message) in session.place else sizing.count(message)
        for message in messages
    )
    return Context(messages, tuple(sizes), sizing.overhead, sizing.count)
