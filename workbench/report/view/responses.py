"""What the view answers with: pages, refusals and downloads, each with what a browser may do in
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import HTMLResponse, Response

from workbench.base.markup import render
from workbench.evaluation.experiment.exports import csv_text
from workbench.report.view.not_shown import NotShown
from workbench.report.view.page import Page

OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';"
    " img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors"
    " 'none'; frame-src 'self'"
)
"""`frame-src` holds for all that a framed report opens in its own place: it leads nowhere but to
this server.
"""
REPORT = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)
"""A report has its script and its style in itself; it is kept apart from all other pages, and
may ask for nothing.
"""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
}
"""Of every answer."""


def html(template: str, values: Mapping[str, Any]) -> Response:
    """A page of the view."""
    return HTMLResponse(_text(template, values), headers={"Content-Security-Policy": OWN})


def report_html(text: str) -> Response:
    """A report, for its frame in a page of the view."""
    content = text.encode("utf-8", "replace")
    return HTMLResponse(content, headers={"Content-Security-Policy": REPORT})


def refused(reason: str, status: int, base: str = "") -> Response:
    """A page that says in one sentence why nothing is shown."""
    values = {"why": reason, "base": base, "title": "Not shown"}
    page = _text("view/refused.html", values)
    return HTMLResponse(page, status, headers={**HEADERS, "Content-Security-Policy": OWN})


def _text(template: str, values: Mapping[str, Any]) -> bytes:
    return render(template, **values).encode("utf-8", "replace")


def download(page: Page, form: str) -> Response:
    """What a page shows, as a file.

    Raises:
        NotShown: the form is neither `csv` nor `json`.
    """
    if form == "csv":
        text = csv_text(page.rows)
        kind = "text/csv"
    elif form == "json":
        text = page.rows.to_json(orient="records", indent=2)
        kind = "application/json"
    else:
        raise NotShown(f"`format` is {form!r} in this address; it must be csv or json.")
    return Response(
        text.encode("utf-8", "replace"),
        media_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{_file_name(page.title)}.{form}"'},
    )


def _file_name(title: str) -> str:
    """A title with a dash for all that is no plain letter or digit."""
    letters = []
    for char in title[:80]:
        is_plain = char.isascii() and char.isalnum()
        letters.append(char if is_plain else "-")
    return "".join(letters)
