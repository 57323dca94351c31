"""How the command line speaks: tables that fit, numbers with sensible digits, errors of one sentence."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence

REDACT = "Mask secrets, e-mail addresses and names of home directories before anything is asked, shown or written."
"""What `--redact` says of itself, wherever it stands."""


def say(text: str = "") -> None:
    """A line for the user, on standard output."""
    sys.stdout.write(text + "\n")


def complain(text: str) -> None:
    """An error or a note, on standard error."""
    sys.stderr.write(text + "\n")


def say_json(value: object) -> None:
    """A value for other programs."""
    say(json.dumps(value, indent=2, ensure_ascii=False))


def share(value: float | None) -> str:
    """A share with two digits; a dash where there is none."""
    return "-" if value is None else f"{value:.2f}"


def percent(value: float | None) -> str:
    """A share as percent; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.0f} %"


def count(value: float | None) -> str:
    """A whole number with separators; a dash where there is none."""
    return "-" if value is None else f"{value:,.0f}"


def printable(text: str) -> str:
    """Recorded text without control characters, on one line: nothing in a recording may steer a terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def table(rows: Sequence[Mapping[str, str]], *, left: Sequence[str] = ()) -> str:
    """Rows as columns under their names, cut to the terminal's width.

    Args:
        rows: each with the same keys, which become the headings.
        left: columns of words; all others are numbers and stand on the right.
    """
    if not rows:
        return ""
    columns = list(rows[0])
    width = {c: max(len(c), *(len(printable(row[c])) for row in rows)) for c in columns}
    room = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 10_000
    over = sum(width.values()) + 2 * (len(columns) - 1) - room
    for column in sorted(left, key=lambda c: -width[c]):
        if over > 0:
            cut = min(over, max(0, width[column] - 16))
            width[column] -= cut
            over -= cut
    lines = [
        "  ".join(_fit(c, width[c], c in left) for c in columns).rstrip(),
        "  ".join("-" * width[c] for c in columns),
    ]
    lines += ["  ".join(_fit(printable(row[c]), width[c], c in left) for c in columns).rstrip() for row in rows]
    return "\n".join(lines)


def _fit(text: str, width: int, left: bool) -> str:
    short = text if len(text) <= width else text[: width - 1] + "…"
    return short.ljust(width) if left else short.rjust(width)
