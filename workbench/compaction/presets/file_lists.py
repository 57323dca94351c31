"""File lists in the text of a summary: written from the record, and taken out where a model wrote its own."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from workbench.compaction.prompt_template import harmless
from workbench.transcript.files import FileOps

_LIST = re.compile(r"\n*<(read-files|modified-files)>\n?(.*?)(?:</\1>|\Z)", re.DOTALL)


def listed(files: FileOps, chars: int | None = None) -> str:
    """Both lists in their tags, read files first; an empty list is left out.

    Args:
        files: what to list.
        chars: the most that all paths may take together; changed files and newer ones go first. None for no bound.
    """
    modified, left = _newest(files.modified, chars)
    read, _ = _newest(files.read, left)
    return "".join(
        "\n\n" + "\n".join((f"<{tag}>", *map(harmless, paths), f"</{tag}>"))
        for tag, paths in (("read-files", read), ("modified-files", modified))
        if paths
    )


def _newest(paths: Sequence[str], chars: int | None) -> tuple[Sequence[str], int | None]:
    if chars is None:
        return paths, None
    used = [*accumulate(len(path) + 1 for path in reversed(paths))]
    fit = bisect_right(used, chars)
    return paths[len(paths) - fit :], chars - (used[fit - 1] if fit else 0)


def without_lists(text: str) -> str:
    """The text without such lists, wherever they stand."""
    return _LIST.sub("", text).strip()


def lists_in(text: str) -> FileOps:
    """The paths that the lists in a text name."""
    found: dict[str, Sequence[str]] = {}
    for tag, paths in _LIST.findall(text):
        found[tag] = [path.strip() for path in paths.splitlines() if path.strip()]
    return FileOps(tuple(found.get("read-files", ())), tuple(found.get("modified-files", ())))
