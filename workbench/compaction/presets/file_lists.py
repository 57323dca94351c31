"""File lists in the text of a summary: written from the record, and taken out where a model wrote its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.compaction.wording import harmless
from workbench.transcript.files import FileOps

_LIST = re.compile(r"\n*<(read-files|modified-files)>\n?(.*?)(?:</\1>|\Z)", re.DOTALL)


def listed(files: FileOps) -> str:
    """Both lists in their tags, read files first; an empty list is left out."""
    return "".join(
        "\n\n" + "\n".join((f"<{tag}>", *map(harmless, paths), f"</{tag}>"))
        for tag, paths in (("read-files", files.read), ("modified-files", files.modified))
        if paths
    )


def without_lists(text: str) -> str:
    """The text without such lists, wherever they stand."""
    return _LIST.sub("", text).strip()


def lists_in(text: str) -> FileOps:
    """The paths that the lists in a text name."""
    found: dict[str, Sequence[str]] = {}
    for tag, paths in _LIST.findall(text):
        found[tag] = [path.strip() for path in paths.splitlines() if path.strip()]
    return FileOps(tuple(found.get("read-files", ())), tuple(found.get("modified-files", ())))
