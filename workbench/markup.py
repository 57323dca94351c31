"""Makes any text safe and readable in HTML: session text is data, never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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


def card(
    title: str,
    facts: Mapping[str, object],
    heads: Sequence[str] = (),
    rows: Iterable[Sequence[object]] = (),
    note: str = "",
) -> str:
    """How an object shows itself in a notebook: its name, a line of facts, and a table; everything is escaped here.

    It takes its colours from the page, so that it is readable on light and on dark ones.

    Args:
        title: what it is.
        facts: what to know first, in order; empty values are left out.
        heads: of the table; empty for none.
        rows: its cells; numbers stand on the right.
        note: a line below.
    """
    told = " · ".join(
        f"{shown(key)} <b>{shown(_told(value))}</b>" for key, value in facts.items() if value not in ("", None)
    )
    lines = "".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in rows)
    names = "".join(f'<th style="text-align:left">{shown(name)}</th>' for name in heads)
    table = f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>" if lines else ""
    below = f'<div style="opacity:.75">{shown(note)}</div>' if note else ""
    return f"<div><div><strong>{shown(title, 120)}</strong></div><div>{told}</div>{table}{below}</div>"


def _told(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _cell(value: object) -> str:
    side = "right" if isinstance(value, int | float) else "left"
    return f'<td style="text-align:{side};vertical-align:top">{shown(_told(value), 160)}</td>'
