"""The DDx agent's file register: what the tool calls of a run read and what they changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.transcript.files import FileOps, touched
from workbench.transcript.message import ToolCall


@dataclass(frozen=True, slots=True)
class Register:
    """All files that were read, and all that were changed; a file may be in both. In the order of first sight."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()

    @property
    def shown(self) -> FileOps:
        """As the summary lists them: a changed file is not also listed as read."""
        return FileOps(tuple(path for path in self.read if path not in self.modified), self.modified)


def register(calls: Iterable[ToolCall]) -> Register:
    """What these calls did to files."""
    each = [touched(call.name, call.arguments) for call in calls]
    return Register(
        tuple(dict.fromkeys(path for files in each for path in files.read)),
        tuple(dict.fromkeys(path for files in each for path in files.modified)),
    )
