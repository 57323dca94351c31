"""The words that stand where something was taken out of a context."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from workbench.transcript.message import Message, plain_text

REPEATED = "(repeat)"
EXCERPT = "[microcompact excerpt]"

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


def snipped(call_id: str) -> str:
    """In the place of a result that is too old to matter."""
    return f"<snipped: stale tool-result for call {call_id}>"


def superseded(path: str) -> str:
    """In the place of what was read from a file that was changed later."""
    return f"<read superseded by later edit: {path}>"


def repeated(call_id: str) -> str:
    """In the place of a result that is the same as that of an equal call just before."""
    return f"{REPEATED} same result as call {call_id}"


def left_out(chars: int) -> str:
    """In the place of the middle of a text."""
    return f"[... {chars} characters left out ...]"
