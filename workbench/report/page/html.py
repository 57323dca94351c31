"""A part of a report: HTML from a template, the same in words, and the table behind it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.base.markup import render, visible

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Html:
    """A part of a page: it shows itself in a notebook; as plain text it is `plain`, or its table.

    Where the part is a table, `data` has its figures; the columns are in docs/reference/tables.md.
    """

    html: str
    plain: str = ""
    data: pd.DataFrame | None = field(default=None, compare=False)

    def _repr_html_(self) -> str:
        return render("report/notebook.html", html=self.html)

    def __add__(self, following: Html) -> Html:
        html = self.html + following.html
        return Html(html, self.plain, self.data)

    def __repr__(self) -> str:
        if self.plain:
            return self.plain
        if self.data is None:
            return "<a part of a report; a notebook shows it>"
        text = self.data.to_string(index=False, max_colwidth=40)
        return visible(text)


def part(
    template: str,
    data: pd.DataFrame | None = None,
    plain: str = "",
    **values: object,
) -> Html:
    """The part of a report that a template in `templates/report` makes of a table and of values by
    name.

    Of the table, the template has the `rows`, and `known`, the strategies in it.
    """
    variables: dict[str, object] = {}
    if data is not None:
        variables["rows"] = data.to_dict("records")
        strategies = []
        if "strategy" in data:
            names = data["strategy"].drop_duplicates()
            strategies = names.tolist()
        variables["known"] = strategies
    variables |= values
    html = render(f"report/{template}.html", **variables)
    return Html(html, plain, data)


def rows_in_order(
    table: pd.DataFrame,
    strategies: Sequence[str],
) -> list[dict[Hashable, Any]]:
    """The rows of a table of strategies, in this order of theirs; those of others come last."""

    def place(row: dict[Hashable, Any]) -> int:
        name = row["strategy"]
        if name not in strategies:
            return len(strategies)
        return strategies.index(name)

    rows = table.to_dict("records")
    return sorted(rows, key=place)


def empty(
    text: str = "",
    data: pd.DataFrame | None = None,
    *,
    template: str = "empty",
) -> Html:
    """A sentence where there is nothing to show; without one, a part that shows nothing."""
    if not text:
        return Html("", data=data)
    return part(template, data, text, text=text)


def note(text: str, data: pd.DataFrame | None = None) -> Html:
    """A sentence below a table or chart; nothing where it is empty."""
    return empty(text, data, template="note")
