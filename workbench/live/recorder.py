"""Writes down what a compactor knows: the whole of it, or what changed since it was last written
down.

To find what changed costs little, also of a conversation of thousands of messages. No text is
compared: messages and compactions never change, so another object is another message. And a history
whose version is the same has only grown.
"""

import json
import math
from collections.abc import Mapping, Sequence
from itertools import islice

from workbench.engine.transcript.context import Context
from workbench.engine.transcript.log import Entry, Log, MessageEntry
from workbench.engine.transcript.message import Json, Message, Summary
from workbench.live.checkpoint import Checkpoint
from workbench.live.formats.parts import jsonable
from workbench.live.formats.shape import HostMessage
from workbench.live.recorded_lists import MadeMessages, RecordedList, RecordedSlots
from workbench.live.recovery import Recovery
from workbench.live.saved_changes import Change, ListChange
from workbench.live.saved_document import VERSION
from workbench.live.scheduler import Scheduler
from workbench.recordings.importers.native import as_plain


class Recorder:
    """Writes down one compactor: first the whole, then what changed since.

    A record is JSON, and holds nothing that the compactor holds.
    """

    def __init__(self, preset: str, recovery: Recovery, scheduler: Scheduler) -> None:
        self._preset = preset
        self._recovery = recovery
        self._scheduler = scheduler
        self._begin()

    def whole(self) -> dict[str, Json]:
        """Everything, as the document that `Compactor.save` returns; changes follow on it."""
        document: dict[str, Json] = json.loads(self.whole_text())
        return document

    def changes(self) -> dict[str, Json] | None:
        """What changed since the last record, see `document_of`; None where nothing did."""
        text = self.changes_text()
        if text is None:
            return None
        record: dict[str, Json] = json.loads(text)
        return record

    def whole_text(self) -> str:
        """The same as `whole`, as JSON text of one line."""
        with self._scheduler.runner.lock:
            self._begin()
            change = self._change()
            document = self._document(change)
            return _as_text(document)

    def changes_text(self) -> str | None:
        """The same as `changes`, as JSON text of one line."""
        with self._scheduler.runner.lock:
            change = self._change()
            if change.is_empty:
                return None
            self._number += 1
            record = change.record(self._number)
            return _as_text(record)

    @staticmethod
    def _document(change: Change) -> dict[str, Json]:
        """The document that a change of an empty one makes."""
        document: dict[str, Json] = {"workbench": "compactor", "version": VERSION}
        document.update(change.values)
        document.update(change.mappings)
        for name, list_change in change.lists.items():
            document[name] = list(list_change.items.values())
        return document

    def _begin(self) -> None:
        """Nothing is written down yet."""
        self._number = 0
        self._version = -1
        self._path = RecordedList[HostMessage]()
        self._log = _RecordedLog()
        self._checkpoints = RecordedList[Checkpoint]()
        self._checkpoint_records: dict[int, Json] = {}
        self._summaries = RecordedList[Summary]()
        self._made = MadeMessages()
        self._passed = RecordedSlots()
        self._returned = RecordedSlots()
        self._mappings: dict[str, dict[str, Json]] = {"names": {}, "archive": {}}
        self._values: dict[str, Json] = {}

    def _change(self) -> Change:
        lists = self._list_changes()
        return Change(
            values=self._value_change(),
            mappings=self._mapping_changes(),
            lists=lists,
        )

    def _list_changes(self) -> dict[str, ListChange]:
        """What changed in the lists that grow, by their names in the document."""
        memory = self._scheduler.memory
        path = memory.state.path
        same = 0
        if memory.version == self._version:
            same = len(self._path.items)
        self._version = memory.version
        dropped = self._path.dropped(path, same)
        summaries = list(memory.reader.written.values())
        changes = {
            "entries": self._path.change(path, _entry_record, same),
            "log": self._log_change(dropped),
            "checkpoints": self._checkpoint_change(),
            "made": self._made.change(),  # behind the checkpoints, which refer to them
            "written": self._summaries.change(summaries, as_plain),
            "given": self._passed.change(memory.lists.passed),
            "returned": self._returned.change(memory.lists.returned),
        }
        changed_lists: dict[str, ListChange] = {}
        for name, list_change in changes.items():
            if list_change is not None:
                changed_lists[name] = list_change
        return changed_lists

    def _mapping_changes(self) -> dict[str, dict[str, Json]]:
        """What changed in the mappings that grow, by their names in the document."""
        memory = self._scheduler.memory
        present_mappings = {"names": memory.reader.names, "archive": memory.archive}
        changed_mappings: dict[str, dict[str, Json]] = {}
        for name, present in present_mappings.items():
            changed = self._mapping_change(name, present)
            if changed:
                changed_mappings[name] = changed
        return changed_mappings

    def _log_change(self, dropped: Sequence[HostMessage]) -> ListChange | None:
        """What is new in the log, and the messages in it that are no longer among the host's."""
        log = self._scheduler.memory.log
        places = self._log.places
        items = self._log.dropped_items(log, dropped)
        for entry in islice(log, len(places), None):
            is_host_message = False
            if isinstance(entry, MessageEntry):
                is_host_message = self._is_host_message(entry.message)
            place = len(places)
            items[place] = _log_record(entry, is_host_message)
            places[entry.id] = place
        if not items:
            return None
        return ListChange(len(log), items)

    def _checkpoint_change(self) -> ListChange | None:
        compactions = self._scheduler.memory.state.checkpoints[1:]
        change = self._checkpoints.change(compactions, self._checkpoint_record)
        if change is None:
            return None
        recorded = self._checkpoint_records
        items: dict[int, Json] = {}
        for index, record in change.items.items():
            # one with a renewed system prompt is another object and says the same
            if recorded.get(index) != record:
                items[index] = record
        for index in list(recorded):
            if index >= change.length:
                del recorded[index]
        recorded.update(items)
        if change.is_shorter or items:
            return ListChange(change.length, items, change.is_shorter)
        return None

    def _checkpoint_record(self, checkpoint: Checkpoint) -> Json:
        sent = None
        if checkpoint.sent is not checkpoint.kept:
            sent = self._context_record(checkpoint.sent)
        return {
            "kept": self._context_record(checkpoint.kept),
            "heard": checkpoint.heard,
            "sent": sent,
            "covers": checkpoint.covers,
            "entry": checkpoint.entry,
            "usd": checkpoint.usd,
        }

    def _context_record(self, context: Context) -> Json:
        references = []
        for message in context.messages:
            reference = message.id
            if not self._is_host_message(message):
                reference = self._made.reference(message)
            references.append(reference)
        return {
            "messages": references,
            "sizes": list(context.sizes),
            "overhead": context.overhead,
            "archived": list(context.archive),
        }

    def _is_host_message(self, message: Message) -> bool:
        """Whether it is one of the host's messages, as it was read."""
        state = self._scheduler.memory.state
        place = state.place.get(message.id)
        if place is None:
            return False
        messages = state.path[place].messages
        return any(host_message is message for host_message in messages)

    def _mapping_change(self, name: str, present: Mapping[str, Json]) -> dict[str, Json]:
        """The keys of a mapping that are new or have another value; most are new ones at its end."""
        recorded = self._mappings[name]
        new_items = islice(present.items(), len(recorded), None)
        changed = dict(new_items)
        recorded.update(changed)
        if recorded == present:
            return changed
        for key, value in present.items():
            if recorded.get(key) != value:
                changed[key] = value
                recorded[key] = value
        return changed

    def _value_change(self) -> dict[str, Json]:
        present = self._present_values()
        changed: dict[str, Json] = {}
        for name, value in present.items():
            is_new = name not in self._values
            if is_new or self._values[name] != value:
                changed[name] = value
        self._values = present
        return changed

    def _present_values(self) -> dict[str, Json]:
        """Every field of the document that is no list or mapping that grows."""
        recovery = self._recovery
        scheduler = self._scheduler
        runner = scheduler.runner
        breaker = runner.breaker
        gauge = scheduler.gauge
        memory = scheduler.memory
        mending = memory.mending
        extra_fields = sorted(mending.extra_fields)
        reader = memory.reader
        seconds_now = gauge.clock()
        limits = list(map(as_plain, gauge.windows.remaining()))
        fallbacks = list(map(as_plain, gauge.windows.fallbacks))
        quotas = list(map(as_plain, gauge.quotas.remaining()))
        pause_seconds = breaker.resumes_after - seconds_now
        return {
            "preset": self._preset,
            "window": gauge.configured,
            "format": reader.format,
            "likely": reader.likely,
            "log_leaf": memory.log.leaf,
            "leaf": memory.state.leaf,
            "history": memory.version,
            "number": reader.number,
            "additions": list(memory.additions.saved()),
            "added": memory.added,
            "model": gauge.model,
            "request": as_plain(gauge.request),
            "reported": as_plain(gauge.reported),
            "limits": limits,
            "fallbacks": fallbacks,
            "quotas": quotas,
            "declared": gauge.declared_tokens,
            "least": gauge.least,
            "lightest": gauge.lightest,
            "accepted": gauge.accepted,
            "calibration": as_plain(gauge.calibration),
            "compactions": runner.number,
            "patience": runner.attempts.patience,
            "vain": runner.attempts.vain,
            "usd": runner.usd,
            "ending": as_plain(runner.ending),
            "misses": breaker.misses,
            "paused": breaker.paused,
            "pause_tokens": _finite(breaker.resumes_at),
            "pause_seconds": _finite(pause_seconds),
            "mends": sorted(mending.defects),
            "doubted": [mending.doubted_from, mending.doubted_until],
            "extra_fields": list(map(list, extra_fields)),
            "unreadable": sorted(reader.unreadable),
            "mended": len(recovery.mended),
            "mended_kinds": list(recovery.mended),
            "resent": recovery.resent,
            "overflowed": scheduler.overflowed,
            "requested": scheduler.requested,
        }


class _RecordedLog:
    """Where in the log each entry stands that was recorded."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def dropped_items(self, log: Log, dropped: Sequence[HostMessage]) -> dict[int, Json]:
        """The whole entries of messages that were the host's, and are on a branch now."""
        items: dict[int, Json] = {}
        for host_message in dropped:
            for message in host_message.messages:
                if message.id not in self.places:
                    continue
                entry = log[message.id]
                if not isinstance(entry, MessageEntry):
                    continue
                if entry.message is message:
                    place = self.places[message.id]
                    items[place] = _log_record(entry, is_host_message=False)
        return items


def _entry_record(host_message: HostMessage) -> Json:
    number = 1
    if host_message.messages:
        first_id = host_message.messages[0].id
        number = int(first_id[1:])
    return {
        "record": host_message.record,
        "number": number,
        "span": host_message.span,
    }


def _log_record(entry: Entry, is_host_message: bool) -> Json:
    if is_host_message:
        return {
            "type": "host_message",
            "id": entry.id,
            "parent": entry.parent,
        }
    return as_plain(entry)


def _finite(value: float) -> float | None:
    if math.isfinite(value):
        return value
    return None


def _as_text(record: Json) -> str:
    return json.dumps(record, separators=(",", ":"), default=jsonable)
