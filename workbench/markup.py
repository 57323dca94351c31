"""Makes any text safe and readable in HTML: session text is data, never markup."""

from __future__ import annotations

import re
from html import escape

LONGEST = 400
"""Characters of one quoted text in a page; a line of a megabyte says nothing more than its start and its size."""

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """The text with control characters, marks that turn the direction of writing and half characters made visible."""
    return _UNSEEN.sub(lambda found: f"\N{SYMBOL FOR SUBSTITUTE FORM TWO}{ord(found.group()):02x}", text)


def clipped(text: str, longest: int = LONGEST) -> str:
    """The text, or its start and how long it is.

    Args:
        text: any.
        longest: characters to show, >= 1.
    """
    if len(text) <= longest:
        return text
    return f"{text[:longest].rstrip()} … ({len(text):,} characters)"


def shown(text: object, longest: int = LONGEST) -> str:
    """The text as it may stand between tags or in a quoted attribute."""
    return escape(visible(clipped(str(text), longest)), quote=True)


def marked(text: str, what: str, longest: int = LONGEST) -> str:
    """The text with each occurrence of `what`, or of its start, in a `<mark>`; clipped around the first."""
    what = what[: longest // 2]
    at = text.find(what)
    if at > longest // 2:
        text = "… " + text[at - longest // 3 :]
    parts = clipped(text, longest).split(what) if what else [clipped(text, longest)]
    return f"<mark>{escape(visible(what))}</mark>".join(escape(visible(part)) for part in parts)
