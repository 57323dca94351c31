"""A part of a report: HTML from a template, the same in words, and the table behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.markup import render, visible

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Html:
    """A part of a page: it shows itself in a notebook; as plain text it is `plain`, or its table.

    Attributes:
        html: from a template.
        plain: the same in words.
        data: the table, where the part is one; the columns are in `docs/tables.md`.
    """

    html: str
    plain: str = ""
    data: pd.DataFrame | None = field(default=None, compare=False)

    def _repr_html_(self) -> str:
        return render("report/notebook.html", html=self.html)

    def __repr__(self) -> str:
        if self.plain or self.data is None:
            return self.plain or "<a part of a report; a notebook shows it>"
        return visible(self.data.to_string(index=False, max_colwidth=40))


def part(template: str, plain: str = "", data: pd.DataFrame | None = None, **values: object) -> Html:
    """The part of a report that a template in `templates/report` makes of these values."""
    return Html(render(f"report/{template}.html", **values), plain, data)


def empty(text: str = "", data: pd.DataFrame | None = None) -> Html:
    """A sentence where there is nothing to show; without one, a part that shows nothing."""
    return part("empty", text, data, text=text) if text else Html("", data=data)
