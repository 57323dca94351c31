"""Building a log: a straight line of messages with unique ids, and what is known about its session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from workbench.transcript.log import Entry, Log, MessageEntry
from workbench.transcript.message import AssistantMessage, Message

_NESTED = frozenset({".worktrees", "worktrees", ".git"})
_NOWHERE = frozenset({"", "root", "home", "tmp", "~", "workspace", "workspaces", "app"})


class Growth:
    """A log that grows at its leaf; an id that stands already gets a number behind it.

    Attributes:
        messages: how many messages it has.
    """

    def __init__(self) -> None:
        self.log = Log()
        self.messages = 0
        self._copies: dict[str, int] = {}

    def fresh(self, wanted: str) -> str:
        """This id, or the next free one after it; `m1`, `m2`... where none is wanted."""
        base = wanted or f"m{len(self.log) + 1}"
        found = base
        while found in self.log:
            n = self._copies[base] = self._copies.get(base, 1) + 1
            found = f"{base}~{n}"
        return found

    def say(self, message: Message) -> str:
        """Append a message after the leaf, and say under which id."""
        entry_id = self.fresh(message.id)
        if entry_id != message.id:
            message = replace(message, id=entry_id)
        self.log.append(MessageEntry(id=entry_id, parent=self.log.leaf, message=message))
        self.messages += 1
        return entry_id

    def note(self, entry: Entry) -> str:
        """Append any other entry after the leaf, and say under which id; its own parent does not matter."""
        entry_id = self.fresh(entry.id)
        self.log.append(replace(entry, id=entry_id, parent=self.log.leaf))
        return entry_id


def main_model(log: Log) -> str:
    """The model that gave most answers; empty if none is named."""
    names = Counter(
        entry.message.model
        for entry in log
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage) and entry.message.model
    )
    return names.most_common(1)[0][0] if names else ""


def project(cwd: str, folder: str) -> str:
    """The name of the repository that a session worked in: the working folder's, else that of the file's folder."""
    parts = [part for part in re.split(r"[/\\]+", cwd) if part]
    nested = next((i for i, part in enumerate(parts) if part in _NESTED), len(parts))
    name = parts[nested - 1] if 0 < nested <= len(parts) else ""
    return folder if name.lower() in _NOWHERE or name.endswith(":") else name


def first(values: Iterable[str]) -> str:
    """The first that is not empty, or the empty text."""
    return next((value for value in values if value), "")
