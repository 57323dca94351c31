"""Compactors whose knowledge is in the state of a LangGraph graph, so that a checkpointer writes it
with the messages.

The state has two fields. `compactor` is small: the newest changes, under a stamp of the moment.
`compactor_whole` is large, and is another in one step of many: the records before these, a whole
one and the changes behind it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import Json
from workbench.live.compactor import Compactor
from workbench.live.journal import line_of
from workbench.live.recorder import Recorder

CONVERSATIONS = 32
"""Compactors that are kept between requests, the newest; another conversation's is loaded from
its state.
"""

GROWTH = 2
"""Records that are so many times as large as the whole one among them begin anew."""


@dataclass(slots=True)
class LiveConversation:
    """A compactor, and how it is written into the state.

    The large field of the state is written again once the small one has cost as much.

    Attributes:
        size, largest_size: bytes of its records, and those above which they begin anew.
        changes_size: bytes of the records in the small field.
    """

    compactor: Compactor
    recorder: Recorder
    size: int = 0
    largest_size: int = 0
    changes_size: int = 0

    def whole_update(self) -> dict[str, Any]:
        """What goes into the state, with everything in it."""
        record = self.recorder.whole()
        line = line_of(record)
        self.size = len(line)
        self.largest_size = GROWTH * self.size
        return self._begun_anew([record])

    def update(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """What goes into a state that holds all that was known when it was written."""
        if self.size > self.largest_size:
            return self.whole_update()
        changes = list(state["compactor"]["changes"])
        change = self.recorder.changes()
        if change is not None:
            line = line_of(change)
            change_size = len(line)
            self.size += change_size
            self.changes_size += change_size
            changes.append(change)
        if len(changes) * self.changes_size < 2 * self.size:
            return {"compactor": {"changes": changes}}
        earlier_records = state["compactor_whole"]["records"]
        return self._begun_anew([*earlier_records, *changes])

    def _begun_anew(self, records: list[Json]) -> dict[str, Any]:
        """Both fields of the state, with all records in the large one."""
        self.changes_size = 0
        small: dict[str, Any] = {"changes": []}
        large = {"records": records}
        return {"compactor": small, "compactor_whole": large}


class StateCompactors:
    """The compactors of a graph's conversations, each known by the state that it is saved in."""

    def __init__(self, preset: Preset, options: dict[str, Any]) -> None:
        """No conversation yet.

        Args:
            preset: how to compact.
            options: what else `Compactor` takes.
        """
        self._preset = preset
        self._options = options
        self._live: OrderedDict[str, LiveConversation] = OrderedDict()

    def of(self, state: Mapping[str, Any]) -> Compactor:
        """The compactor of a conversation at this state."""
        saved = state.get("compactor")
        if saved is None:
            return Compactor(self._preset, **self._options)
        live = self._live.get(saved["stamp"])
        if live is not None:
            return live.compactor
        records = _records_in(state)
        return Compactor.load(records, self._preset, **self._options)

    def saved(self, compactor: Compactor, state: Mapping[str, Any]) -> dict[str, Any]:
        """What goes into the state. Whoever goes back to the state before loads what that one has."""
        saved = state.get("compactor", {})
        stamp = saved.get("stamp", "")
        live = self._live.pop(stamp, None)
        if live is not None and live.compactor is compactor:
            update = live.update(state)
        else:
            recorder = compactor.recorder()
            live = LiveConversation(compactor, recorder)
            update = live.whole_update()
        stamp = uuid4().hex
        self._live[stamp] = live
        while len(self._live) > CONVERSATIONS:
            self._live.popitem(last=False)
        update["compactor"]["stamp"] = stamp
        return update


def _records_in(state: Mapping[str, Any]) -> list[Json]:
    """The records of a compactor; an earlier version had one whole document in the state."""
    saved = state["compactor"]
    if "document" in saved:
        return [saved["document"]]
    earlier_records = state["compactor_whole"]["records"]
    return [*earlier_records, *saved["changes"]]
