"""The words that ExAthena puts where it took something out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.compaction.marker import EXCERPT, is_archived
from workbench.transcript.message import Message, plain_text

CLEARED = "[output cleared to save context"
MERGED = "microcompact"
SUMMARY = "compactor_summary"

_REFERRED = re.compile(r"\[old output cleared to save context \(\d+ chars, ref=([0-9a-f]+)\)")
_SNIPPED = "<snipped: stale tool-result for call "


def archived(size: int, ref: str) -> str:
    """In the place of an archived result, in the words of the newest version. `size` is in bytes."""
    return (
        f"[old output cleared to save context ({size} chars, ref={ref}) — re-run the tool with narrower arguments "
        "if needed]"
    )


def cleared(size: int, tool: str, hint: str) -> str:
    """In the place of an old result that its tool can give again. `size` is in bytes."""
    again = f"{tool} ({hint})" if hint else tool
    return f"{CLEARED} ({size} chars) — re-run {again} if needed]"


def merged(results: int) -> str:
    """The first line above what is left of a run of results."""
    return f"[microcompact: {results} tool results elided]"


def is_reference(message: Message, archive: Mapping[str, str]) -> bool:
    """Whether the message is a marker whose full text the archive holds."""
    if not archive:
        return False
    text = plain_text(message)
    if not text.startswith("["):
        return False
    found = _REFERRED.match(text)
    return is_archived(message, archive) if found is None else found.group(1) in archive


def is_mark(text: str) -> bool:
    """Whether a stage wrote the text already."""
    return text.startswith((_SNIPPED, CLEARED, EXCERPT))
