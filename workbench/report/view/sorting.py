"""Tables of the view that an address sorts by a column, and from which it leaves columns out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.formats import missing
from workbench.report.view.not_shown import NotShown
from workbench.report.view.page import asking

HIDDEN = "hide"
"""The parameter of an address that names the columns left out."""
BETWEEN = "|"
"""What stands between their names, which may hold commas."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a column, with the address of the page sorted by it."""

    column: str
    title: str
    address: str


@dataclass(frozen=True, slots=True)
class ColumnSwitch:
    """Whether a column is shown, with the address of the page where it is the other way round."""

    title: str
    is_shown: bool
    address: str


def sorted_records(
    rows: Sequence[dict[str, Any]],
    sort: str,
    columns: Mapping[str, str],
) -> list[dict[str, Any]]:
    """The rows by a column, of which a minus before its name turns the order; in their own order
    where none is named. Rows without a value come last.

    Raises:
        NotShown: there is no such column.
    """
    if not sort:
        return list(rows)
    column = sort.removeprefix("-")
    if column not in columns:
        raise NotShown(f"The sorting {sort!r} of this address is none of the columns.")
    with_value = []
    without_value = []
    for row in rows:
        if missing(row.get(column)):
            without_value.append(row)
        else:
            with_value.append(row)
    with_value.sort(key=lambda row: _folded(row[column]), reverse=sort.startswith("-"))
    return with_value + without_value


def _folded(value: Any) -> Any:  # noqa: ANN401 - a text or a number
    if isinstance(value, str):
        return value.lower()
    return value


def headings(
    columns: Mapping[str, str],
    state: Mapping[str, str],
    parameter: str,
) -> list[Heading]:
    """Each column; a second time turns the order, a third one brings the rows' own order again."""
    titles = []
    for column, title in columns.items():
        next_sorts = {
            "": column,
            column: f"-{column}",
            f"-{column}": "",
        }
        sort = next_sorts.get(state[parameter], column)
        address = asking(**{**state, parameter: sort})
        titles.append(Heading(column, title, address))
    return titles


def hidden_columns(query: Mapping[str, str], columns: Mapping[str, str]) -> list[str]:
    """The columns that an address leaves out; names of no column ask nothing."""
    names = query.get(HIDDEN, "").split(BETWEEN)
    hidden = []
    for column in columns:
        if column in names:
            hidden.append(column)
    return hidden


def column_switches(
    columns: Mapping[str, str],
    hidden: Sequence[str],
    state: Mapping[str, str],
) -> list[ColumnSwitch]:
    """For each column the address of the same page with it, or without it."""
    switches = []
    for column, title in columns.items():
        is_shown = column not in hidden
        hidden_then = list(hidden)
        if is_shown:
            hidden_then.append(column)
        else:
            hidden_then.remove(column)
        address = asking(**{**state, HIDDEN: BETWEEN.join(hidden_then)})
        switches.append(ColumnSwitch(title, is_shown, address))
    return switches
