"""A compactor read from one JSON document, so that an agent that was stopped goes on as if it had
not been.

Saved are the conversation with its branches, the compactions in force, what was shown, the archive,
and what was learned of window, usage and misses; `Recorder` writes them. Not saved are the model,
settings, hooks, counters, clock and events: `Compactor.load` takes them anew. The host's messages
are saved once, as they were read; the rest refers to them.
"""

import math
from collections.abc import Iterator, Mapping

from workbench.base.errors import FormatError, SettingError
from workbench.engine.compaction.attempts import Attempts
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.log import Entry, Log, LogError, MessageEntry
from workbench.engine.transcript.message import Json, Message
from workbench.live.checkpoint import Checkpoint
from workbench.live.context_edits import rejoined
from workbench.live.formats.shape import HostMessage
from workbench.live.gauge import Gauge
from workbench.live.identity import Additions, HostList
from workbench.live.memory import Memory
from workbench.live.mending.mends import Mending
from workbench.live.outgoing import places_of, write_messages
from workbench.live.recovery import Recovery
from workbench.live.runner import Runner
from workbench.live.saved_document import (
    VERSION,
    SavedCompactor,
    SavedContext,
    SavedLogEntry,
    SavedSlot,
)
from workbench.live.scheduler import Scheduler
from workbench.live.state import State
from workbench.recordings.importers.records import read_as


def read(document: Json) -> SavedCompactor:
    """The document's parts.

    Raises:
        FormatError: it is no such document, is damaged, or a newer one.
    """
    if not isinstance(document, Mapping) or document.get("workbench") != "compactor":
        raise FormatError(
            "this is no saved compactor; what `Compactor.save` returned would be accepted, or the"
            " `Path` of a file that `Compactor.save_to` wrote"
        )
    if document.get("version") != VERSION:
        objection = (
            f"version {document.get('version')!r} is unknown; a compactor of version {VERSION}"
            " would be accepted"
        )
        raise FormatError(objection, where="saved compactor", field="version")
    try:
        saved: SavedCompactor = read_as(SavedCompactor, document)
    except FormatError as error:
        raise FormatError(error.why, where="saved compactor", field=error.field) from None
    return saved


def refuse_another(saved: SavedCompactor, preset: str) -> None:
    """Refuse to go on with another preset.

    Raises:
        SettingError: it was saved with another one.
    """
    if preset != saved.preset:
        raise SettingError(
            f"the document was saved with preset {saved.preset!r}; pass that one instead of"
            f" {preset!r}"
        )


def restore(saved: SavedCompactor, recovery: Recovery, scheduler: Scheduler) -> None:
    """Put the document's parts into those of a new compactor.

    Raises:
        FormatError: they do not fit together.
    """
    try:
        _restore_memory(saved, scheduler.memory)
    except (KeyError, IndexError, ValueError, StopIteration, LogError) as error:
        objection = (
            f"the saved compactor is damaged ({error}); what `Compactor.save` returned, unchanged,"
            " would be accepted"
        )
        raise FormatError(objection) from None
    seconds_now = scheduler.gauge.clock()
    _restore_gauge(saved, scheduler.gauge, seconds_now)
    _restore_runner(saved, scheduler.runner, seconds_now)
    recovery.mended = list(saved.mended_kinds)
    recovery.resent = saved.resent
    scheduler.overflowed = saved.overflowed
    scheduler.requested = saved.requested


def _restore_gauge(saved: SavedCompactor, gauge: Gauge, seconds_now: float) -> None:
    gauge.model = saved.model
    gauge.request = saved.request
    gauge.reported = saved.reported
    gauge.windows.restore(saved.limits, saved.fallbacks)
    gauge.quotas.restore(saved.quotas)
    gauge.declared_tokens = saved.declared
    gauge.least = saved.least
    gauge.lightest = saved.lightest
    gauge.calibration = saved.calibration
    gauge.accepted = saved.accepted


def _restore_runner(saved: SavedCompactor, runner: Runner, seconds_now: float) -> None:
    runner.number = saved.compactions
    runner.attempts = Attempts(saved.patience, saved.vain)
    runner.usd = saved.usd
    runner.ending = saved.ending
    breaker = runner.breaker
    breaker.misses = saved.misses
    breaker.paused = saved.paused
    breaker.resumes_at = math.inf
    if saved.pause_tokens is not None:
        breaker.resumes_at = saved.pause_tokens
    breaker.resumes_after = math.inf
    if saved.pause_seconds is not None:
        breaker.resumes_after = seconds_now + saved.pause_seconds


def _restore_memory(saved: SavedCompactor, memory: Memory) -> None:
    reader = memory.reader
    reader.format = saved.format
    reader.likely = saved.likely
    reader.unreadable = set(saved.unreadable)
    reader.note_written(saved.written)
    reader.names = dict(saved.names or {})
    memory.archive = dict(saved.archive or {})
    memory.version = saved.history
    path = [*_path(saved, memory)]
    reader.number = saved.number
    messages_by_id: dict[str, Message] = {}
    for host_message in path:
        for message in host_message.messages:
            messages_by_id[message.id] = message
    place = places_of(path)
    memory.log = Log(_with_message(entry, messages_by_id) for entry in saved.log)
    made_messages = [rejoined(message, messages_by_id.get(message.id)) for message in saved.made]
    marks = [memory.state.checkpoints[0]]
    for item in saved.checkpoints:
        kept_context = sent = _context(item.kept, memory, messages_by_id, made_messages)
        if item.sent is not None:
            sent = _context(item.sent, memory, messages_by_id, made_messages)
        heard_path = path[: item.heard]
        outgoing = write_messages(sent.messages, heard_path, place, reader.present_format)
        mark = Checkpoint(
            heard=item.heard,
            kept=kept_context,
            sent=sent,
            shown=tuple(outgoing),
            entry=item.entry,
            covers=item.covers,
            usd=item.usd,
        )
        marks.append(mark)
    memory.state = State.at(tuple(marks), path)
    memory.state.leaf = saved.leaf
    memory.log.leaf = saved.log_leaf
    memory.lists.begin_anew(path)
    memory.lists.passed = _list(saved.given, path)
    memory.lists.returned = _list(saved.returned, path)
    memory.additions = Additions.loaded(saved.additions)
    memory.added = saved.added
    doubted_from, doubted_until = saved.doubted
    extra_fields = set(saved.extra_fields)
    memory.mending = Mending(set(saved.mends), doubted_from, doubted_until, extra_fields)


def _path(saved: SavedCompactor, memory: Memory) -> Iterator[HostMessage]:
    """The host's messages read again, those of one answer together as they were, with the ids
    that they had.
    """
    ends: list[int] = []
    end = len(saved.entries)
    while end > 0:
        ends.append(end)
        end -= max(saved.entries[end - 1].span, 1)
    start = 0
    path: list[HostMessage] = []
    for end in reversed(ends):
        memory.reader.number = saved.entries[end - 1].number - 1
        records = [entry.record for entry in saved.entries[start:end]]
        path += memory.reader.read(records, 0, path)
        start = end
    yield from path


def _with_message(entry: Entry | SavedLogEntry, messages_by_id: Mapping[str, Message]) -> Entry:
    if isinstance(entry, SavedLogEntry):
        return MessageEntry(id=entry.id, parent=entry.parent, message=messages_by_id[entry.id])
    return entry


def _context(
    saved: SavedContext,
    memory: Memory,
    messages_by_id: Mapping[str, Message],
    made_messages: list[Message],
) -> Context:
    messages: list[Message] = []
    for reference in saved.messages:
        if reference.startswith("@"):
            messages.append(made_messages[int(reference[1:])])
        else:
            messages.append(messages_by_id[reference])
    archive: dict[str, str] = {}
    for reference in saved.archived:
        archive[reference] = memory.archive[reference]
    return Context(
        messages=tuple(messages),
        sizes=saved.sizes,
        overhead=saved.overhead,
        count=memory.reader.count,
        archive=archive,
    )


def _list(slots: tuple[SavedSlot, ...], path: list[HostMessage]) -> HostList:
    """A list that the host may hold: of its own messages, and of what was written for it."""
    objects: list[Json] = []
    for slot in slots:
        if slot.at is None:
            objects.append(slot.record)
        else:
            objects.append(path[slot.at].object)
    return HostList(objects, [slot.at for slot in slots])
