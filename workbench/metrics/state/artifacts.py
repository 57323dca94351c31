"""Which files a conversation worked on, and whether a context still knows how they stand now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from workbench.extraction.paths import normal_path
from workbench.metrics.indexes.inverted_index import InvertedIndex
from workbench.metrics.indexes.text_index import TextIndex
from workbench.metrics.sources import shell_command
from workbench.ragged import Flags, counts, kept_mask
from workbench.transcript.files import FileOps, touched
from workbench.transcript.message import AssistantMessage, ToolCall

_PATH = r"(?P<path>[\w@~.][\w./@~+-]*\.\w{1,8}|/?[\w@~.-]+(?:/[\w@.+-]+)+)"
_CHANGED = (
    re.compile(r"(?<![\d&<>=-])>{1,2}\s*" + _PATH),
    re.compile(r"\btee\s+(?:-a\s+)?" + _PATH),
    re.compile(r"\bsed\s+(?:-\w+\s+)*-i\S*\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s+" + _PATH),
    re.compile(r"\b(?:rm|mv|touch|git\s+(?:rm|mv))\s+(?:-\w+\s+)*" + _PATH),
    re.compile(r"\b(?:cp|mv|git\s+mv)\s+(?:-\w+\s+)*\S+\s+" + _PATH),
)
"""Forms in which a command changes a file."""
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1(?P<same>[^\n]*)\n.*?^\2\s*$", re.MULTILINE | re.DOTALL)


def shell_changes(command: str) -> tuple[str, ...]:
    """The paths that a shell command plainly writes, moves or removes, each once, in order.

    Fails to see: what a script does that the command runs, and names that a variable or a pattern stands for.
    """
    bare = _HEREDOC.sub(lambda found: found["same"], command)
    paths = (found["path"] for form in _CHANGED for found in form.finditer(bare))
    return tuple(dict.fromkeys(path for path in paths if not path.startswith("/dev/")))


def operations(call: ToolCall) -> FileOps:
    """What one call did to files: a file tool's paths, and what a shell command plainly changes."""
    return touched(call.name, call.arguments) or FileOps(modified=shell_changes(shell_command(call)))


class Artifacts:
    """The files of one session: when each was worked on, last changed, and named.

    A file is an entity of the session, whatever path names it.
    """

    def __init__(self, texts: TextIndex) -> None:
        p, self._texts = texts.inverted_index, texts
        rows = list(_rows(p))
        self._message, self._file, change = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        self._change: Flags = change.astype(bool)
        self._is_file = kept_mask(self._file, len(p.names))
        named = self._is_file[p.pair_entity]
        self._named_file, self._named_message = p.pair_entity[named], p.pair_message[named]

    def states(self, at: int, mask: Flags, texts: Iterable[str] = (), newest: Sequence[int] = ()) -> dict[str, int]:
        """How many files of `messages[:at]` a context of these messages and texts knows as they are, or were, or not.

        `correct`: the newest thing in the context that names the file is not older than its last change. `stale`: it
        is older. `lost`: nothing names it. `newest` says for each text which message its writer could know last.
        """
        past, held = self._message < at, mask[self._named_message] & (self._named_message < at)
        changed, named = np.full((2, len(self._is_file)), -1)
        changed[self._file[past & self._change]] = self._message[past & self._change]  # in order: the last one stays
        named[self._named_file[held]] = self._named_message[held]
        found = self._texts.read(texts)
        np.maximum.at(named, found.entities, np.array(newest, dtype=np.int64)[found.text[found.entity_row]])
        known = kept_mask(self._file[past], len(self._is_file))
        lost, stale = known & (named < 0), known & (named >= 0) & (named < changed)
        return counts(correct=known & ~lost & ~stale, stale=stale, lost=lost)


def _rows(p: InvertedIndex) -> Iterator[tuple[int, int, int]]:
    """Message, file and whether it was changed, for each operation whose file is an entity of the session."""
    cwd = p.extractor.cwd
    for at, message in enumerate(p.messages):
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            done = operations(call)
            for change, paths in ((0, done.read), (1, done.modified)):
                for path in paths:
                    name = normal_path(path, cwd)
                    number = p.paths.get(p.files.of(name) or name) if name else None
                    if number is not None and not p.folder[p.stands_for[number]]:
                        yield at, int(p.stands_for[number]), change
