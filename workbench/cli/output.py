"""How the command line prints: tables that fit, numbers with sensible digits, errors of one
sentence.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from secrets import token_hex
from shutil import get_terminal_size
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any, Literal, TextIO

from workbench.base.formats import NOTHING, NUMBERS, joined, missing
from workbench.base.pulse import PULSE

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

OK, FAILED, UNUSABLE, PENDING = range(4)
"""Exit codes; the table in docs/runs.md says when each is given."""


class NothingToRun(Exception):
    """Ends a dry run whose command would do nothing: what would do something was said."""


WIDTH = 80
"""Characters in a line of what is read from top to bottom."""
LEAST_WIDTH = 20
"""Characters in a line of words on the narrowest terminal."""
WIDEST = 10_000
"""Characters in a line where nothing bounds it."""
NARROWEST = 6
"""Characters to which a column of words is wrapped before a table is written row by row."""
_KEPT = frozenset("\n\t\xa0")
"""Characters that are not printable by Python's word, and harmless."""
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_NUMBER = re.compile(rf"\W*\d.*|{NOTHING}?\W*")


OWN_ESCAPE = f"⟦{token_hex(8)}⟧"
"""Stands for the escape character of our own styles until a text is written; drawn anew for each
process.
"""


def say(text: str = "") -> None:
    """A line for the user, on standard output."""
    PULSE.spoke()
    with naming_output():
        sys.stdout.write(harmless(text) + "\n")


@contextmanager
def naming_output() -> Iterator[None]:
    """Let an error of writing inside say that it is of the standard output, such as a full disk."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "the standard output") from None


def harmless(text: str) -> str:
    """A text in whose lines nothing but our own styles can steer a terminal, such as an escape
    in a file's name.
    """
    shown_text = "".join(char if char.isprintable() or char in _KEPT else "\ufffd" for char in text)
    return shown_text.replace(OWN_ESCAPE, "\x1b")


@contextmanager
def while_read() -> Iterator[None]:
    """What is said inside is handed on at its end; where nobody reads any more (`| head`), the
    work behind goes on.
    """
    try:
        yield
        with naming_output():
            sys.stdout.flush()
    except BrokenPipeError:
        leave_output()


def leave_output() -> None:
    """Write to nowhere from now on, since nobody reads the standard output any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str, *, hint: str = "") -> None:
    """An error or a note, on standard error, and below it what to do about it."""
    PULSE.spoke()
    message = text.removeprefix("workbench: ")
    head = painted("workbench:", "red", sys.stderr) + " " if message != text else ""
    sys.stderr.write(harmless(f"{head}{message}\n"))
    if hint:
        sys.stderr.write(harmless(painted("hint:", "yellow", sys.stderr) + f" {hint}\n"))


@contextmanager
def plain_warnings(*kinds: type[Warning]) -> Iterator[None]:
    """Inside, warnings of these kinds are sentences for the user; all others stay as they are."""
    with warnings.catch_warnings():
        for kind in kinds:
            warnings.simplefilter("always", kind)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:  # noqa: ANN401 - file and line
            if issubclass(category, kinds):
                complain(f"workbench: {message}")
            else:
                usual(message, category, *place)

        warnings.showwarning = show  # type: ignore[assignment]  # the rest is passed on as it is
        yield


def _console(stream: TextIO, **settings: Any) -> Console:  # noqa: ANN401 - settings of rich's
    """What shows styles on a terminal, unless NO_COLOR is set, and nowhere else."""
    from rich.console import Console

    if os.environ.get("NO_COLOR"):
        settings |= {"color_system": None}
    is_terminal = stream.isatty() or None  # None: as FORCE_COLOR says
    return Console(
        file=StringIO(),
        force_terminal=is_terminal,
        highlight=False,
        markup=False,
        emoji=False,
        **settings,
    )


def painted(text: str, style: str, stream: TextIO | None = None) -> str:
    """The text in one of rich's styles where a terminal shows it, and as it is anywhere else."""
    stream = stream or sys.stdout
    if not (stream.isatty() or os.environ.get("FORCE_COLOR")):  # a pipe, or no memory to load rich
        return text
    console = _console(stream, soft_wrap=True)
    with console.capture() as capture:
        console.print(harmless(text), style=style, end="")
    return capture.get().replace("\x1b", OWN_ESCAPE)


def line_width() -> int:
    """Characters in a line of words: fewer on a narrow terminal."""
    if not sys.stdout.isatty():
        return WIDTH
    return min(WIDTH, max(get_terminal_size().columns, LEAST_WIDTH))


def write(text: str, style: str = "") -> None:
    """A paragraph; a number stays beside its per cent sign."""
    unbroken = printable(text).replace(" %", "\0%")
    paragraph = fill(unbroken, width=line_width(), break_on_hyphens=False)
    say("\n" + painted(paragraph.replace("\0", " "), style))


def say_json(value: object) -> None:
    """A value for other programs."""
    say(as_json(value, indent=2))


def as_json(value: object, indent: int | None = None) -> str:
    """A value as JSON, in which what could steer a terminal is escaped."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, with None where a value is missing."""
    rows: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows


def printable(text: str) -> str:
    """Recorded text without control characters, on one line: nothing in a recording may steer a
    terminal.
    """
    return "".join(char if char.isprintable() else " " for char in text)


def table(
    rows: Iterable[Mapping[str, object]],
    columns: Mapping[str, str] | None = None,
    *,
    room: int | None = None,
) -> str:
    """Rows as columns under their names; closer and wrapped to fit, or row by row where numbers
    would not fit.

    Args:
        rows: the values by key; `style` is how a terminal shows the row.
        columns: for each heading the key, and after a colon the format of a number (see
            `formats.NUMBERS`); None shows every key of the first row.
        room: most characters in a line; a terminal's own width holds as well.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    all_rows = list(rows)
    if not columns:
        columns = {name: name for name in all_rows[0]} if all_rows else {}
    cells = {}
    for heading, key in columns.items():
        cells[heading] = [_cell(row, key) for row in all_rows]
    width = room or WIDEST
    if sys.stdout.isatty():
        width = min(width, Console().width)
    grid = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0))
    least_width = 0
    for heading, column_cells in cells.items():
        is_number = all(map(_NUMBER.fullmatch, column_cells))
        min_width = max(map(len, column_cells), default=0) if is_number else NARROWEST
        justify: Literal["left", "right"] = "right" if is_number else "left"
        grid.add_column(heading, justify=justify, overflow="fold", min_width=min_width)
        least_width += min_width + 2
    if least_width > width:
        return _row_by_row(cells, len(all_rows), width)
    for index, row in enumerate(all_rows):
        row_cells = [column_cells[index] for column_cells in cells.values()]
        grid.add_row(*row_cells, style=str(row.get("style") or ""))
    for spaces in (1, 0):  # beside the one between columns
        if Console(width=WIDEST).measure(grid).maximum > width:
            grid.padding = (0, spaces, 0, 0)
    console = _console(sys.stdout, width=width)
    with console.capture() as capture:
        console.print(grid)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    return "\n".join(lines).replace("\x1b", OWN_ESCAPE)


def without_twins(
    rows: Iterable[Mapping[str, object]], columns: Mapping[str, str]
) -> tuple[list[Mapping[str, object]], list[str]]:
    """The rows that differ from each other in a column besides the first, and a sentence for each
    of them that stands for others as well.

    Args:
        rows: the values by key.
        columns: as for `table`; the first names the row.
    """
    (_, name_key), *figures = columns.items()
    shown_rows: dict[tuple[str, ...], Mapping[str, object]] = {}
    twins: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for row in rows:
        cells = tuple(_cell(row, key) for _, key in figures)
        if cells in shown_rows:
            twins[cells].append(_cell(row, name_key))
        else:
            shown_rows[cells] = row
    sentences = []
    for cells, names in twins.items():
        name = _cell(shown_rows[cells], name_key)
        sentences.append(f"The line of {name} is also that of {joined(names)}.")
    return list(shown_rows.values()), sentences


def _row_by_row(cells: Mapping[str, Sequence[str]], row_count: int, width: int) -> str:
    """A block of lines of at most this width for each row, with a new line for each column, for
    tables that are too wide.
    """
    blocks = []
    for index in range(row_count):
        lines = []
        for heading, column_cells in cells.items():
            name = " ".join(heading.split())
            lines += wrap(f"{name}  {column_cells[index]}", width)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def tables(
    rows: Iterable[Mapping[str, object]], columns: Mapping[str, str], *, room: int = 80
) -> str:
    """Rows as a table, or as several below each other that begin with the same column, so that no
    name is broken.

    Args:
        rows: the values by key.
        columns: as for `table`; headings are broken between words.
        room: most characters in a line.
    """
    all_rows = list(rows)

    def width(heading: str, key: str) -> int:
        words = heading.split()
        cells = [_cell(row, key) for row in all_rows]
        return max(map(len, [*words, *cells])) + 3

    (first_heading, first_key), *other_columns = columns.items()
    first_width = width(first_heading, first_key)
    first_column = {_on_lines(first_heading): first_key}
    parts = [dict(first_column)]
    part_width = first_width
    for heading, key in other_columns:
        column_width = width(heading, key)
        if len(parts[-1]) > 1 and part_width + column_width - 1 > room:
            parts.append(dict(first_column))
            part_width = first_width
        parts[-1][_on_lines(heading)] = key
        part_width += column_width
    return "\n\n".join(table(all_rows, part) for part in parts)


def _on_lines(heading: str) -> str:
    """A heading with each of its words on a line."""
    return heading.replace(" ", "\n")


def frame_table(frame: pd.DataFrame) -> str:
    """A DataFrame as a table, its fractions with three digits."""
    columns = {str(name): str(name) for name in frame}
    for name in frame.select_dtypes("float"):
        columns[str(name)] = f"{name}:decimal3"
    return table(records(frame), columns)


def _cell(row: Mapping[str, object], key: str) -> str:
    name, _, form = key.partition(":")
    value = row.get(name)
    if form:
        return NUMBERS[form](value)  # type: ignore[arg-type]  # a number, or None
    return NOTHING if missing(value) else printable(str(value))
