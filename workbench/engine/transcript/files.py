"""Which files a conversation read and which it changed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workbench.engine.transcript.shared_range import SharedRange

READS = frozenset(
    {
        "read",
        "read_file",
        "readfile",
        "view",
        "view_file",
        "cat",
        "open",
        "open_file",
        "fs_read",
        "notebookread",
    }
)
CHANGES = frozenset(
    {
        "write", "write_file", "writefile", "edit", "edit_file", "editfile", "multiedit", "multi_edit", "create",
        "create_file", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "replace",
        "replace_in_file", "apply_patch", "applypatch", "patch", "notebookedit", "insert", "delete_file",
        "write_to_file", "edit_lines", "edit_file_lines",
    }
)  # fmt: skip
PATH_KEYS = (
    "path",
    "file_path",
    "filePath",
    "file",
    "filename",
    "target_file",
    "absolute_path",
    "notebook_path",
)
OLD_KEYS = ("old_string", "oldString", "old_str", "oldText", "old_text", "old", "search")
"""Arguments of an edit that hold the text to be replaced."""

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)
_NEXT_FILE = re.compile(r"^(?:diff --git |--- |\*\*\* )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileOps:
    """Paths in the order in which they were first seen; a changed path is not also read.

    In summaries of one conversation each is a `SharedRange`, which is equal to the tuple.
    """

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.read or self.modified)


NOTHING = FileOps()


_VERSION = re.compile(r"_v\d+$")
NAMES = 1_000
"""Names of tools that a process remembers without their versions."""


@lru_cache(maxsize=NAMES)
def tool_name(name: str) -> str:
    """A tool's own name in lower case, without that of the server that offers it, as in
    `mcp__files__read`, and without its version, as in `read_file_v2`.
    """
    own_name = name.rsplit("__", 1)[-1].lower()
    return _VERSION.sub("", own_name)


def touched(name: str, arguments: Mapping[str, Any]) -> FileOps:
    """What one tool call did to files, judged by the tool's name and its path argument."""
    tool = tool_name(name)
    reads = tool in READS or (
        tool == "str_replace_based_edit_tool" and arguments.get("command") == "view"
    )
    if not reads and tool not in CHANGES:
        return NOTHING
    paths: list[str] = []
    for key in PATH_KEYS:
        path = arguments.get(key)
        if isinstance(path, str) and path:
            paths.append(path)
    if reads:
        return FileOps(read=tuple(paths[:1]))
    if not paths:
        for value in arguments.values():
            if isinstance(value, str):
                paths += _PATCHED.findall(value)
    return FileOps(modified=tuple(paths))


def replaced_texts(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The texts that a tool call replaces: of its edits, and the removed lines of a patch."""
    yield from _replaced_by(arguments)
    edits = arguments.get("edits")
    if isinstance(edits, list):
        for edit in edits:
            if isinstance(edit, Mapping):
                yield from _replaced_by(edit)


def _replaced_by(edit: Mapping[str, Any]) -> Iterator[str]:
    for key, text in edit.items():
        if not isinstance(text, str):
            continue
        if key in OLD_KEYS:
            yield text
        elif _PATCHED.search(text):
            yield _lines_marked(text.splitlines(), "-")


def _lines_marked(lines: Iterable[str], *marks: str) -> str:
    """The lines that begin with one of these marks, without it."""
    return "\n".join(line[1:] for line in lines if line.startswith(marks))


def patched_texts(text: str) -> Iterator[str]:
    """The removed lines of a patch and those around them, a text a hunk."""
    if not _NEXT_FILE.search(text):
        return
    for hunk in _HUNK.split(text)[1:]:
        hunk = _NEXT_FILE.split(hunk, maxsplit=1)[0]
        yield _lines_marked(hunk.split("\n"), "-", " ")


def merged(operations: Iterable[FileOps]) -> FileOps:
    """All of them in order, promoted from read to changed where a later one says so."""
    read = SharedRange.of(())
    modified = SharedRange.of(())
    for operation in operations:
        read = read.joined(operation.read)
        modified = modified.joined(operation.modified)
    if any(path in read for path in modified):
        read = SharedRange.of([path for path in read if path not in modified])
    # each takes the place of the tuple that it is equal to
    return FileOps(
        read=read,  # type: ignore[arg-type]
        modified=modified,  # type: ignore[arg-type]
    )
