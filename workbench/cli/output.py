"""How the command line speaks: tables that fit, numbers with sensible digits, errors of one sentence."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

Paint: TypeAlias = Literal["bold", "red", "green", "yellow", "dim"]
_CODES: dict[Paint, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
NARROWEST = 16
"""Characters to which a column of words is cut before a table is written another way."""

REDACT = "Mask secrets, e-mail addresses and names of home directories before anything is asked, shown or written."
"""What `--redact` says of itself, wherever it stands."""


def say(text: str = "") -> None:
    """A line for the user, on standard output."""
    sys.stdout.write(text + "\n")


def complain(text: str, *, hint: str = "") -> None:
    """An error or a note, on standard error, and below it what to do about it."""
    head, mark, rest = text.partition("workbench: ")
    coloured = painted("workbench:", "red", sys.stderr) + " " + rest if mark and not head else text
    sys.stderr.write(coloured + "\n")
    if hint:
        sys.stderr.write(painted("hint:", "yellow", sys.stderr) + f" {hint}\n")


@contextmanager
def told_plainly(kind: type[Warning]) -> Iterator[None]:
    """Inside, warnings of that kind are sentences for the user; all others stay as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", kind)
        usual = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
            line: str | None = None,
        ) -> None:  # fmt: skip
            if issubclass(category, kind):
                complain(f"workbench: {message}")
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def painted(text: str, paint: Paint, stream: TextIO | None = None) -> str:
    """The text in colour on a terminal that shows colours, and as it is anywhere else."""
    stream = stream or sys.stdout
    plain = not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else f"\x1b[{_CODES[paint]}m{text}\x1b[0m"


def say_json(value: object) -> None:
    """A value for other programs."""
    say(json.dumps(value, indent=2, ensure_ascii=False))


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, with None where a value is missing."""
    found: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return found


def number(value: object) -> float | None:
    """A number, or None for anything else."""
    return float(value) if isinstance(value, int | float) and value == value else None


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


def table(rows: Sequence[Mapping[str, str]], *, left: Sequence[str] = (), room: int | None = None) -> str:
    """Rows as columns under their names, cut to the terminal's width; row by row where even that is too wide.

    Args:
        rows: each with the same keys, which become the headings.
        left: columns of words; all others are numbers and stand on the right.
        room: characters in a line; None takes the terminal's, and no bound where there is none.
    """
    if not rows:
        return ""
    columns = list(rows[0])
    width = {c: max(len(c), *(len(printable(row[c])) for row in rows)) for c in columns}
    if room is None:
        room = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 10_000
    over = sum(width.values()) + 2 * (len(columns) - 1) - room
    for column in sorted(left, key=lambda c: -width[c]):
        if over > 0:
            cut = min(over, max(0, width[column] - NARROWEST))
            width[column] -= cut
            over -= cut
    if over > 0:
        return _stacked(rows, room)
    lines = [
        painted("  ".join(_fit(c, width[c], c in left) for c in columns).rstrip(), "bold"),
        "  ".join("-" * width[c] for c in columns),
    ]
    lines += ["  ".join(_fit(printable(row[c]), width[c], c in left) for c in columns).rstrip() for row in rows]
    return "\n".join(lines)


def _stacked(rows: Sequence[Mapping[str, str]], room: int) -> str:
    """Each row as lines of name and value, an empty line between rows."""
    wide = max(map(len, rows[0]))
    blocks = (
        "\n".join(
            f"{name:<{wide}}  {_fit(printable(row[name]), max(room - wide - 2, 1), True).rstrip()}" for name in row
        )
        for row in rows
    )
    return "\n\n".join(blocks)


def _fit(text: str, width: int, left: bool) -> str:
    short = text if len(text) <= width else text[: width - 1] + "…"
    return short.ljust(width) if left else short.rjust(width)
