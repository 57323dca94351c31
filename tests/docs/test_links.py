"""Every link of a page leads to a file that is there, and to a heading that the file has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "reports" / "studies").rglob("*.md")),
    ROOT / "datasets" / "README.md",
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
]
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def text_of(page: Path) -> str:
    """The prose of a page, or of the Markdown cells of a notebook, without code."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join(
            "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
        )
    return CODE.sub("", text)


def anchors_of(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def broken(page: Path, text: str) -> Iterator[str]:
    """The links of a text on a page that lead nowhere."""
    for path, anchor in LINK.findall(text):
        target = (page.parent / path).resolve() if path else page
        missing_heading = anchor and target.suffix == ".md" and anchor not in anchors_of(target)
        if not target.exists() or missing_heading:
            yield f"{path}#{anchor}" if anchor else path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken(page, text_of(page))) == []


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Known heading\n")
    text = (
        "[a](page.md), [b](page.md#known-heading), [c](page.md#other), [d](gone.md),"
        " [e](https://example.com/x)"
    )
    assert list(broken(page, text)) == ["page.md#other", "gone.md"]
