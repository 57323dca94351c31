"""What the documentation site does with pages as they stand in the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_OUTSIDE = re.compile(
    r"\[([^]]*)\]\((?:notebooks|datasets|LICENSE|(?:CONTRIBUTING|SECURITY|CHANGELOG)\.md)/?\)"
)
_STUDY = re.compile(
    r"\[([^]]*)\]\((?:\.\./)*(reports/studies(?:/[\w-]+)?)/(?:README\.md)?(?:#[\w-]+)?\)"
)
"""A link to a study, which is no page of the site."""


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The start page is the README; links from it into docs/ lose that folder, links to other
    folders their target.
    """
    markdown = _STUDY.sub(r"\1 (`\2`)", markdown)
    if page.file.src_uri != "index.md":
        return markdown.replace("](../notebooks/", "](notebooks/").replace(
            "](../README.md", "](index.md"
        )
    text = _STUDY.sub(r"\1 (`\2`)", (ROOT / "README.md").read_text(encoding="utf-8"))
    text = text.replace("](docs/", "](").replace('src="docs/', 'src="')
    return _OUTSIDE.sub(r"\1", text)
