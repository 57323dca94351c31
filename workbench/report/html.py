"""The pieces that a page is put together from. What comes from a recording is escaped before it gets here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from workbench.markup import shown, visible
from workbench.palette import looks

if TYPE_CHECKING:
    import pandas as pd

Cell: TypeAlias = tuple[str, str]
"""The HTML of a cell, and its class: `n` for numbers."""


_IN = ":is(.jp-RenderedHTMLCommon,.rendered_html) .wb-part"
NOTEBOOK = f"""<style>
{_IN} :is(th,td){{text-align:left;vertical-align:top}}
{_IN} :is(th,td).n{{text-align:right}}
{_IN} :is(.headline,.costs) small{{display:block}}
{_IN} td.n small{{white-space:nowrap}}
{_IN} .headline small.why{{white-space:normal;max-width:6.5em;margin-left:auto}}
{_IN} .wide{{overflow-x:auto}}
{_IN} dl{{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.25rem}}
{_IN} :is(dt,dd){{float:none;width:auto;margin:0;padding:0;text-align:left}}
</style>"""
"""A notebook sets all columns to the right and lets terms float; a report has rules of its own, which these leave."""


@dataclass(frozen=True, slots=True)
class Html:
    """A piece of a page: shows itself in a notebook; as plain text it is `plain`, or its figures.

    Attributes:
        html: escaped where it comes from a recording.
        plain: the same in words.
        data: the figures, where the piece is a table; the columns are in `docs/tables.md`.
    """

    html: str
    plain: str = ""
    data: pd.DataFrame | None = field(default=None, compare=False)

    def _repr_html_(self) -> str:
        arranged = any(part in self.html for part in ("<table", "<dl"))
        return f'{NOTEBOOK}<div class="wb-part">{self.html}</div>' if arranged else self.html

    def __repr__(self) -> str:
        if self.plain or self.data is None:
            return self.plain or "<a piece of a report; a notebook shows it>"
        return visible(self.data.to_string(index=False, max_colwidth=40))


def dot(strategy: str, known: Iterable[str]) -> str:
    """A strategy's name with its colour before it."""
    colour = looks(known)[strategy].colour
    style = f"background:{colour};display:inline-block;width:.65em;height:.65em;border-radius:50%;margin-right:.45em"
    return f'<span class="strategy"><i style="{style}"></i>{shown(strategy)}</span>'


def table(
    heads: Sequence[Cell], rows: Iterable[str], *, kind: str = "", caption: str = "", label: str = "a table"
) -> str:
    """A table that scrolls sideways where it has to.

    Args:
        heads: title and class of each column.
        rows: one `<tr>` each.
        kind: class of the table.
        caption: HTML below it.
        label: what it holds, for those who hear the page.
    """
    head = "".join(f'<th scope="col" class="{css}">{text}</th>' for text, css in heads)
    inside = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    below = f'<p class="note">{caption}</p>' if caption else ""
    box = f'<div class="wide" tabindex="0" role="region" aria-label="{label}">'
    return f'{box}<table class="{kind}">{inside}</table></div>{below}'


def row(cells: Sequence[Cell], css: str = "") -> str:
    """One table row."""
    return f'<tr class="{css}">' + "".join(f'<td class="{kind}">{text}</td>' for text, kind in cells) + "</tr>"


def bullets(items: Iterable[str]) -> str:
    """A list of HTML items; nothing where there are none."""
    inside = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{inside}</ul>" if inside else ""
