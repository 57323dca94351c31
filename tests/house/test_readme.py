"""What the README and the page on security promise."""

from __future__ import annotations

import re
from pathlib import Path

from recordings.importers.files import format_names

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_has_exactly_the_two_commands_that_the_check_runs() -> None:
    for mark in ("<!-- main command -->", "<!-- test command -->"):
        assert README.count(mark) == 1
        assert re.search(re.escape(mark) + r"\n```bash\n[^\n]+\n```", README)


def test_it_counts_the_formats() -> None:
    assert f"[The {len(format_names())} formats" in README


def test_every_file_that_it_points_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_test_that_the_page_on_security_names_is_there() -> None:
    named = re.findall(r"`(tests/[^` ]+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) > 15 and [path for path in named if not (ROOT / path).exists()] == []
