"""The words that replace what a stage removed from a context."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from workbench.transcript.message import Message, plain_text

REPEATED = "(repeat)"
EXCERPT = "[microcompact excerpt]"
SNIPPED = "<snipped: stale tool-result for call {}>"
_TRUNCATED = re.compile(r"\[truncated; full=\d+ chars; ref=([0-9a-f]+)\]")


def reference(text: str) -> str:
    """The name under which a text is archived: the same text has the same name, always."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def truncated(chars: int, ref: str) -> str:
    """In the place of a text of `chars` characters that the archive holds under `ref`."""
    return f"[truncated; full={chars} chars; ref={ref}]"


def is_archived(message: Message, archive: Mapping[str, str]) -> bool:
    """Whether the message is a marker whose full text the archive holds."""
    if not archive:
        return False
    text = plain_text(message)
    found = _TRUNCATED.fullmatch(text) if text.startswith("[") else None
    return found is not None and found.group(1) in archive


def left_out(chars: int) -> str:
    """In the place of the middle of a text."""
    return f"[... {chars} characters left out ...]"
